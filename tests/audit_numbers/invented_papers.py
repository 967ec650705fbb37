"""Invented papers in several styles, in which every number is honest: what aligning must not cry wolf over."""

from __future__ import annotations

__all__ = ["BIBLIOGRAPHY", "PAPERS", "TABLES"]

ARTICLE = r"""\documentclass[11pt]{article}\usepackage{booktabs,amsmath,amsthm,siunitx,graphicx,hyperref,natbib}\newtheorem{theorem}{Theorem}
\input{generated/macros}\title{Gaps of \val{main.untreated.gap} in 12 layers}\author{A. Author\thanks{Supported by grant 4711-2020.}}\date{May 5, 2023}
\providecommand\srankk{srank}\usepackage{tabularx,booktabs}\begin{document}\maketitle\tableofcontents
\begin{abstract}We measured \val{main.untreated.gap} nats in 2 settings.\end{abstract}
\section{Introduction}\label{sec:intro}
In section~\ref{sec:intro} on page~\pageref{sec:intro} we use 3 layers and 12 heads, see \citet{dong2021} and \citep[p.~12]{smith2019}.
\begin{enumerate}\item first \val{pilot.of}\item second 2.5\,cm\end{enumerate}
\begin{theorem}\label{th}Let $n\ge 3$ and $x_1 = 2$. Then $f(x)=x^2+3x_{10}$.\end{theorem}
By theorem~\ref{th} and equation~\eqref{eq:a},
\begin{equation}\label{eq:a} L = \frac{1}{2}\sum_{i=1}^{10} \|x_i\|^2 + 10^{-3} \end{equation}
\begin{align} a &= 1 \\ b &= 0.5 \end{align}
The loss\footnote{In nats; see \val{main.untreated.neg} and 7 others.} fell.\footnote{Another.} \num{12345.6}, \SI{3.5}{\metre}, $\num{1.5e-3}$, 1\,024 and 12{,}500 and 10,000 steps.
\begin{table}[h]\caption{With \val{main.untreated.gap} of 10 runs.}\input{generated/arms}\end{table}
\begin{table}[h]\centering\resizebox{0.9\linewidth}{!}{\input{generated/st}}\caption{S columns, 5 rows.}\label{tab:s}\end{table}
Table~\ref{tab:s} shows it. P1 was \verdict{pilot.P1}, P2 \verdict{pilot.P2}. Of \val{pilot.of}, \val{pilot.met}.
\appendix\section{More on 2 things}\subsection{Detail}
\bibliographystyle{plainnat}\bibliography{r}
\end{document}
"""
COLUMNS = r"""\documentclass[10pt,twocolumn]{article}\usepackage{booktabs,amsmath,siunitx,graphicx,fancyhdr,lmodern,microtype}\usepackage[numbers,sort&compress]{natbib}
\input{generated/macros}\pagestyle{fancy}\lhead{Journal 12 (2023) 1--9}\rfoot{Draft 3}
\providecommand\srankk{srank}\usepackage{tabularx,booktabs}\begin{document}\title{Two columns}\author{B}\date{}\maketitle
\section{Method with $k=3$}
We cite \cite{dong2021,smith2019} and use \val[word]{main.untreated.recovered} of \val[n]{main.untreated.recovered} runs. P1 was \verdict{pilot.P1}; \ifverdict{pilot.P2}{it held}{it failed, in 4 runs}{it is open}.
Long filler text runs here so that hyphenation and justification occur in narrow columns, \val{main.untreated.tiny} nats with uncertainty, and on layer 3 of 12 we saw 2 heads and 16 tokens for each of the 7 sequences. Of \val{pilot.of} predictions \val{pilot.met} was met.
\begin{table*}\caption{Wide}\centering\input{generated/arms}\end{table*}
\begin{figure}\centering\fbox{\rule{3cm}{2cm}}\caption{A picture of 3 cells.}\label{f}\end{figure}
Figure~\ref{f} and fig.~\ref{f} in 2021. \textit{1.} An item. Footnote\footnote{See 3 notes on p.~4.}. $10^{12}$, $2^{10}$, $\sqrt[3]{8}$, $\binom{5}{2}$, $x_{12}^{3}$, 3D, GPT-2, H$_2$O, CO$_{2}$, 5\%, \$30, 1st, 2nd, 3--5, $0.5\pm0.1$, 1.2(3), 12:30, v1.2.3, 3/4.
\newpage More text on the next page with \val{main.untreated.share}.
\verb|x=5|
\begin{verbatim}
lr: 0.001  steps 300
\end{verbatim}
\bibliographystyle{unsrtnat}\bibliography{r}
\end{document}
"""
REPORT = r"""\documentclass{report}\usepackage{longtable,booktabs,tabularx,rotating,lineno,xcolor,amsmath,dcolumn,subcaption,algorithm,algpseudocode}\linenumbers\usepackage[hidelinks]{hyperref}
\input{generated/macros}\newcommand{\nlayers}{12}\newcommand{\chapref}[1]{chapter~\ref{#1}}
\providecommand\srankk{srank}\usepackage{tabularx,booktabs}\begin{document}\tableofcontents\listoftables
\chapter{One}\label{ch:one}\section{First with \val{main.untreated.gap}}
The model has \nlayers{} layers; all \nlayers{} layers and the \nlayers{} blocks; as in \chapref{ch:one} we see. tables~\ref{tab:x} and \ref{tab:y} on page \pageref{tab:x}. \begin{algorithm}\caption{Do 3 things}\begin{algorithmic}[1]\State $x \gets 4$\State go to line 1\end{algorithmic}\end{algorithm} \begin{tabular}{D{.}{.}{2}} 1.25 \\ 22.5 \\ \end{tabular} \begin{tabular}{r@{.}l} 1&375 \\ 12&5 \\ \end{tabular}
\begin{longtable}{lr}\caption{Long}\label{tab:x}\\ a & b \\ \endhead 1 & 2.25 \\ 3 & 4.75 \\ 5 & 6 \\ & \val{main.untreated.close} \end{longtable}
\begin{sidewaystable}\input{generated/arms}\caption{Side}\label{tab:y}\end{sidewaystable}
\begin{tabularx}{\linewidth}{lXr} 1 & text of 3 words \val{main.untreated.gap} & 2 \\ \end{tabularx}
\begin{enumerate}\item a\item b\end{enumerate} \textcolor{red}{4 red} things, {\small 5 small} ones. P1 \verdict{pilot.P1} P2 \verdict{pilot.P2}.
Of \val{pilot.of} predictions \val{pilot.met}.
\chapter{Two}\section{Again} On page 3 of 5 in 1999. \today.
\end{document}
"""
PLACES = r"""\documentclass[twoside]{book}\usepackage[T1]{fontenc}\usepackage{lmodern,booktabs,amsmath,graphicx,xcolor,multicol,lscape,caption,subcaption,array}\usepackage[hidelinks]{hyperref}
\input{generated/macros}\providecommand\srankk{srank}\usepackage{tabularx,booktabs}\begin{document}\tableofcontents
\chapter{Gaps}\section{With \val{main.untreated.gap} here}
\begin{equation} y = \frac{\val{main.untreated.gap}}{\val{main.untreated.neg}} + 10^{\val{pilot.of}} \times \sqrt{\val{main.untreated.close}} \le \overline{\val{main.untreated.share}} \end{equation}
\begin{align} a &= \val{main.untreated.gap} \\ b &\ge \val{main.untreated.tiny} \pm \val{main.untreated.close} \end{align}
\textbf{\val{main.untreated.gap}}, \emph{(\val{main.untreated.neg})}, \textsc{was \verdict{pilot.P1}}, [\val{main.untreated.gap}; \val{main.untreated.close}], \val{main.untreated.gap}/\val{main.untreated.close}, ``\val{main.untreated.gap}'', \val{main.untreated.gap}--\val{main.untreated.close}, $[\val{main.untreated.gap},\val{main.untreated.close}]$, n=\val{pilot.of}, $n{=}\val{pilot.of}$.
\begin{multicols}{3} narrow columns make words break often: the prediction was \verdict{pilot.P2} and was \verdict{pilot.P2} and also \verdict{pilot.P1}, \val[word]{main.untreated.recovered}, \val[Word]{main.untreated.recovered} of \val[n]{main.untreated.recovered} representations, and so on and on until the columns balance themselves out nicely enough. \end{multicols}
\begin{table}\caption[Short \val{pilot.of}]{Long \val{main.untreated.gap} caption\footnotemark}\begin{tabular}{l>{\centering\arraybackslash}p{2cm}r} a & \val{main.untreated.gap} & $\val{main.untreated.neg}$ \\ \multicolumn{2}{c}{\val{main.untreated.close}} & \textcolor{red}{\val{main.untreated.share}} \\ \end{tabular}\end{table}
\begin{figure}\begin{subfigure}{.4\linewidth}\rule{1cm}{1cm}\caption{Sub \val{main.untreated.gap}}\end{subfigure}\begin{minipage}{.4\linewidth}\val{main.untreated.close}\end{minipage}\caption{Fig \val{main.untreated.share}}\end{figure}
\begin{landscape} turned \val{main.untreated.gap} and \val{main.untreated.close} \end{landscape}
\rotatebox{30}{\val{main.untreated.gap}} \resizebox{3cm}{!}{\begin{tabular}{rr} \val{main.untreated.gap} & \val{main.untreated.close} \\ \val{main.untreated.share} & \val{main.untreated.neg} \\ \end{tabular}}
\fbox{\parbox{3cm}{\val{main.untreated.gap}}} \marginpar{\val{main.untreated.close}} \raisebox{3pt}{\val{main.untreated.gap}} {\scriptsize\val{main.untreated.gap}}$^{\val{pilot.of}}$ noted\footnote{\val{main.untreated.gap} and \verdict{pilot.P1}.}
\begin{description}\item[\val{main.untreated.gap}] text \item[b] \val{main.untreated.close}\end{description}
\begin{quote}\val{main.untreated.gap}\end{quote} \begin{center}\val{main.untreated.close}\end{center} \hfill\val{main.untreated.gap}
\newpage \val{main.untreated.gap} \newpage \input{generated/arms} \input{generated/st2} \end{document}
"""
COMMAS = r"""\documentclass[a5paper,DIV=12]{scrartcl}\usepackage{siunitx,booktabs,longtable,tabularx}\input{generated/macros}\providecommand\srankk{srank}\usepackage{tabularx,booktabs}\begin{document}\section{A}
Ein Wert von 0,53 und $0{,}53$ und \num{1234.5} oder \SI{20}{\percent}, $12\,345$ Schritte, 3\,\% und $(0{,}5 \pm 0{,}1)$, vgl. Abschnitt 3 von 5 und Kapitel 7. Am 3. Mai 2021 um 12:30. \val{main.untreated.gap}. P1 \verdict{pilot.P1} P2 \verdict{pilot.P2}. Of \val{pilot.of}, \val{pilot.met}.
\input{generated/st2}\input{generated/arms}
\begin{description}\item[1.] x \item[2)] y\end{description}
\begin{equation} \sum_{k=0}^{99} x^{2k+1} = 3.14 \end{equation} \[ 1.5 \cdot 10^{-3} \text{ in 4 cases of } 10 \] $\alpha_{1,2}^{3} = 2.5_4$
\end{document}
"""
PAPERS = {"article": ARTICLE, "two columns": COLUMNS, "report": REPORT, "places": PLACES, "decimal commas": COMMAS}
BIBLIOGRAPHY = r"""@article{dong2021,author={Dong, A. and Wu, B.},title={Attention in 12 layers},journal={J. Tests},volume={139},number={4},pages={2793--2803},year={2021}}
@article{smith2019,author={Smith, C.},title={A theory of 3 kinds},journal={Proc. 7th Conf.},volume={3},pages={11--19},year={2019},doi={10.1000/182.31}}
"""
S_COLUMNS = r"""\begin{tabular}{lSS[table-format=1.2]}
\toprule arm & {gap} & {n} \\ \midrule
%% for arm in main.arms
<< arm.name | label >> & << arm.gap | val >> & 12345.6 \\
%% endfor
\bottomrule
\end{tabular}
"""
CLAIMS = r"""\begin{table}\caption{A caption with << main.untreated.gap | val >> in 5 runs, $\alpha<1$.}\begin{tabularx}{\linewidth}{lXrr}\toprule
\textbf{arm} & a long claim in words of which some will be broken over lines & $n$ & gap\textsuperscript{a} \\ \midrule
%% for arm in main.arms
\textit{<< arm.name | label >>} & The representations of $\alpha$-networks converge below 0.05 or so, \srankk{} of << main.untreated.tiny | val >> & << main.untreated.neg | val >> & << arm.gap | val >>\,nats \\ \addlinespace[2pt] \cmidrule(lr){3-4}
%% endfor
\multicolumn{4}{l}{\footnotesize a: note 3 of << main.untreated.share | val('percent.2') >>} \\ \bottomrule\end{tabularx}\end{table}
"""
TABLES = {"st": S_COLUMNS, "st2": CLAIMS}
