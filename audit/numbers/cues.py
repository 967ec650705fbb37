"""Words that tell a measured number from a design constant, a reference or a name; all matched just before or after a number."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from audit.numbers.stream import CITE, REF

I = re.IGNORECASE  # noqa: E741
CAPITAL_LETTER = re.compile(r"(?<!\\)(?<!\(\?)[A-Z]")


class Cue:
    """A regular expression, compiled when it is first asked.

    One that ignores case is matched against the text in lower case, and one that begins at a border of words looks behind instead:
    each is several times faster than what it replaces.
    """

    def __init__(self, pattern: str, flags: int = 0):
        self._pattern, self._folded = pattern, bool(flags & I)

    def __getattr__(self, name: str) -> Any:
        """`search`, `match` and `strip` (the text without what matches): made when the first of them is asked for."""
        if name not in ("search", "match", "strip"):
            raise AttributeError(name)
        pattern = CAPITAL_LETTER.sub(lambda letter: letter.group().lower(), self._pattern) if self._folded else self._pattern
        compiled = re.compile(r"(?<!\w)" + pattern[2:] if pattern.startswith(r"\b(") else pattern)
        asked = compiled.search, compiled.match, partial(compiled.sub, "")
        self.search, self.match, self.strip = (partial(_fold, ask) for ask in asked) if self._folded else asked
        return self.__dict__[name]


def _fold(ask: Any, text: str) -> Any:
    return ask(text.lower())


METHOD_TITLE = Cue(
    r"\b(?:methods?|methodology|materials?|experimental (?:set-?up|details?|procedures?|design|protocol)|set-?up|implementation|participants|procedures?|protocol|(?:simulation|computational|training|numerical|technical) details|"
    r"hyper-?parameters?|apparatus|stimuli|sample preparation|statistical analys[ei]s|study design|instruments?|reagents|observations and data reduction|sampling)\b|^experimental$|^computational$",
    I,
)  # fmt: skip
LIST_TITLE = Cue(r"^\W*(?:references|bibliography|(?:literature|works|references) cited|reference list)\W*$", I)
RESULT_TITLE = Cue(r"\b(?:results?|findings|evaluation|experiments|outcomes|conclusions?)\b", I)
BACKGROUND_TITLE = Cue(r"\b(?:introduction|related work|background|previous work|prior work|literature|state of the art|motivation|theory)\b", I)
LENGTH = Cue(
    r"\s*\\(?:text|line|column|paper|page|h|v)?(?:width|height|size|sep)(?![a-z])|\s*\\(?:baselineskip|parindent|parskip|unitlength|tabcolsep)"
)
COMMAND = Cue(r"\\[A-Za-z@]+\s*=?\s*-?$")
TEX_UNIT = Cue(r"\s*(?:true)?(?:pt|pc|in|bp|cm|mm|dd|cc|sp|ex|em)(?![A-Za-z])")
PRIMITIVE = Cue(
    r"\\(?:(?:cat|lc|uc|sf|math|del)code\S*?|numexpr|dimexpr|ifnum|ifdim|ifcase|number|romannumeral|setbox|advance\S*(?:\s+by)?|penalty|looseness|tolerance|pretolerance|emergencystretch|parindent|parskip|baselineskip|abovecaptionskip|belowcaptionskip|textfloatsep|"
    r"[a-z]*penalty|[a-z]*demerits|itemsep|parsep|topsep|hsize|vsize|arraycolsep|tabcolsep|columnsep|pdf[a-z]+|relpenalty|count\d*|hfuzz|hbadness)\s*=?\s*-?$"
)
UNIT = r"(?:\^?°\u200b?\s?[CF]?(?![A-Za-z])|K|Hz|kHz|MHz|GHz|ms|µs|μs|ns|s|sec(?:onds?)?|min(?:utes?)?|h|hours?|days?|nights?|weeks?|months?|years?|[munkMμµ]?[gmlLWVAJN]|[munμµ]M|(?<=\s)M|mg|kg|µm|μm|nm|cm|mm|km|ml|mL|GB|MB|TB|GiB|[kK]B|[GMk]bps|[GM]B/s|bytes?|bits?|nats?|dB|eV|keV|MeV|GeV|TeV|Å|arcsec|arcmin|kpc|Mpc|pc|Gyr|Myr|yr|AU|Pa|kPa|[mnμk]?mol|rpm|hPa|MPa|m?bar|Torr|px|pixels|KiB|MiB|ppm|Gy|mag|[mnμk]T|k[AN]|[kMG]J|kOe|sccm|atm|fs|ps|(?:kilo|centi|milli|micro|nano)?met(?:er|re)s?|feet|inch(?:es)?|miles?|(?:kilo|milli)?grams?|(?:milli)?lit(?:er|re)s?|volts?|watts?|hectares?|tonn?es?|tons)"
PHYSICAL = Cue(rf"[\s-]*{UNIT}(?![A-Za-z])")

CERTAIN_INDEX = Cue(
    rf"(?:{REF}|\b(?:fig(?:ure)?s?|tab(?:le)?s?|sec(?:tion)?s?|sects?|eqs?|eqns?|equations?|chapters?|chap|appendix|appendices|app|theorems?|thm|lemmas?|"
    r"propositions?|prop|corollar(?:y|ies)|definitions?|remarks?|algorithms?|alg|listings?|(?<!m\.)pp?|pages?|vol(?:ume)?|no|nos|issues?|refs?|hypothes[ie]s|supp(?:lementary)?|"
    r"footnotes?|fn|(?:mss?|lat|fr|cod|fols?|inv|suppl|dig)(?=\.)|articles?|arts?|clauses?|paragraphs?|directives?|regulations?|step|steps|rq|questions?|assumptions?|conditions?|claims?)\.?)[\s\u00a0]*[(\[]?#?(?:[A-Z]?\d+(?:\.\d+)*[a-z]?\s*(?:,|\u2013|--?|and|to|&|or|,\s*and)\s*)*(?:[A-Z]\.?)?$",
    I,
)  # fmt: skip
INDEX = Cue(
    r"\b(?:lines?|items?|panels?|columns?|rows?|stud(?:y|ies)|experiments?|exps?\.?|predictions?|aims?|objectives?|parts?|phases?|stages?|days?|weeks?|visits?|levels?|types?|class|"
    r"classes|grades?|cases?|scenarios?|settings?|models?|groups?|arms?|cohorts?|clusters?|blocks?|layers?|heads?|tasks?|batch|rounds?|fold|runs?|seeds?|jobs?|sites?|stations?|"
    r"samples?|specimens?|subjects?|participants?|patients?|reviewers?|tiers?|epochs?|steps?|iterations?|generations?|months?|years?|chromosomes?|exons?|versions?|waves?|quarters?|trials?|"
    r"sessions?|datasets?|variants?|method|property|order|degree|rank|position|index|node|channel|machine|worker|point)[\s\u00a0]*(?:number\s*)?(?:\d+\s*(?:,|\u2013|--?|and|to|&|or)\s*)*$",
    I,
)  # fmt: skip
VERBISH = Cue(r"\b(?:run|step|batch|fold|head|sample|model|case|point|order|round|rank|trial|group|block|line|page|stage)\s*$", I)
PLURAL = Cue(
    r"[\s\u00a0]+(?:[a-z-]+\s+)?(?!is\b|was\b|has\b|shows\b|does\b|this\b|gives\b|uses\b|its\b|lists\b|contains\b|requires\b|(?:adds|includes|reports|presents|extends|replaces|repeats|tests|drops|controls|compares|describes|summari[sz]es|yields|assumes|follows|starts|ends|considers|asks|examines|explores|shares|builds|applies)\b)[a-z-]+(?:s|en)\b"
)
SOFTWARE = Cue(
    r"\b(?:python|pytorch|torch|tensorflow|jax|numpy|scipy|pandas|cuda|cudnn|julia|matlab|stata|spss|sas|java|gcc|ubuntu|debian|centos|windows|macos|linux|android|ios|"
    r"version|versions|(?<!we )(?<!to )release|ver\.?|v\.?|gpt|llama|bert|claude|gemini|mistral|qwen|lme4|ggplot|prism|graphpad|imagej|fiji|matplotlib|scikit-learn|sklearn|keras|transformers|"
    r"dvc|git|latex|python3|node(?:\.js)?|rstudio|r|opencv|blender|unity|excel|nvivo|g\*power|jasp|jamovi|psychopy|eprime|e-prime|covid|mnist|cifar|imagenet|wikitext|h|rtx|gtx|geforce|tesla|core|xeon|ryzen|iphone|"
    r"iso|ieee|rfc|din|en|astm|ansi|cc[ -]by(?:-[a-z]+)*|gpl(?:v)?|build|revision|apache|level-|usb|wi-?fi|bluetooth|http|web|industry)[\s\u00a0]*(?:version\s*|v\.?\s*|release\s*)?(?:\d+(?:\.\d+)*-)?$",
    I,
)  # fmt: skip
NAME_HYPHEN = Cue(
    r"(?:[A-Za-z]*[A-Z][A-Za-z0-9]*|\b[a-z]\d+|\b(?:top|pass|hits?|rank|type|grade|stage|phase|level|layer|n|k|p|il|t|pm|depth|width|order|size|covid|sars-cov|fig|block|day|week|step|seed|omega|class|category))[-\u2013]$"
)
MODEL = Cue(r"\b[A-Z][A-Za-z]*[\d.]*[-\s\u00a0]\(?(?:\d+(?:\.\d+)?[\s-])?$")
PRODUCT_NAME = Cue(r"\b[A-Z](?=[A-Za-z]*[a-z])[A-Za-z]+[A-Z][A-Za-z]*[\s\u00a0]$|\b[A-Z]{2,}[a-z]+[\s\u00a0]$|\b[A-Z]{3,}\d+[\s\u00a0]$")
CAPITAL = Cue(r"(?:^|[.;:!?]\s*|\s)(?!(?:Only|About|Around|Nearly|Over|Almost|At|In|On|By|Of|For|From|To|The|All|And|But|Some|Just|With|Within|Between|Under|Above|Below|After|Until|Up|Roughly|Approximately|Exactly|These|Those|Our|Their|Its|Another|Mean|Median|Score|Accuracy|Total|Ours|Baseline)\b)[A-Z][a-z]+[\s\u00a0]$")
PROPER = Cue(r"(?:[a-z,;]|\()[\s\u00a0]+(?:[A-Z][a-z]+)[\s\u00a0]$")
IDENTIFIER = Cue(
    r"(?<![A-Za-z\\])(?:doi|arxiv|isbn|issn|pmid|orcid|grants?(?: agreements?)?|licen[cs]e|id|nct|protocol|approval|award|contract|accession|catalogue|catalog|cat\.|lot|patent|zip|postal|commit|registration|identifier|project)"
    r"(?:[\s\u00a0:.#(]|nos?\b|numbers?\b|codes?\b|ids?\b)*[A-Za-z]{0,6}[-/]?(?:[A-Z0-9][A-Za-z0-9]*[-/.])*$|(?:https?:|www\.)\S*$|(?<![a-z])(?:phone|tel|fax|mobile)\b[^;a-z]{0,24}$|\b10\.\d{4,9}/\S*$|(?:[A-Za-z]\S*/|[@_])[^\s=(]*$|\S+://\S*$",
    I,
)  # fmt: skip

MONTHS = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|spring|summer|autumn|winter)"
MONTH_BEFORE = Cue(rf"\b{MONTHS}\.?[\s\u00a0]*(?:\d{{1,2}}(?:st|nd|rd|th)?\s*(?:,|\u2013|--?)\s*)?$", I)
MONTH_AFTER = Cue(rf"(?:st|nd|rd|th)?(?:\s*(?:\u2013|--?|and|to)\s*\d+(?:st|nd|rd|th)?)?[\s\u00a0]+(?:of\s+)?{MONTHS}\b", I)
YEAR_BEFORE = Cue(
    rf"(?:^|\b(?i:in|since|until|till|from|by|during|before|after|between|early|late|mid|year|years|through|to|and|around|circa|of|at|with|than|versus|than in|workshop|conference|proc(?:eedings)?|edition|"
    rf"{MONTHS})|\b[A-Z]{{3,}}|,|\(|al\.?,?|;|[\u2013-]|{CITE}|©|'|\d{{4}}\s?/)[\s\u00a0]*$"
)
YEAR_AFTER = Cue(
    r"[\s\u00a0]*(?:$|[(.),;:\]\u2013-]|(?:and|to|by|we|the|was|were|through|when|had|in|for|with|it|they|as|at|by)\b|[A-Z\ue000-\ue00f])"
)

STATISTIC = Cue(
    r"(?:^|[\s,;(\ue007])(?P<symbol>p|P|r|R|F|t|z|Z|d|g|U|W|M|R\s*\^\s*2|r\s*\^\s*2|r_\w+|r_\ue007s\ue007|p_\S+|\\chi\s*\^\s*2|\\rho|\\beta(?!_\ue007?\d)|\\kappa|\\eta(?:_p)?\s*\^\s*2|\\eta_p\S*|\\omega\s*\^\s*2|"
    r"\\hat\S*|\\bar\S*|OR|HR|RR|CI|SD|SE|SEM|AUC|BF\S*|I\s*\^\s*2|\\Delta\s*\S{0,12}|\\epsilon\s*\^\s*2|MSE|RMSE|MAE|ICC)[\s\u200b]*(?:\([^)]*\)|_\ue007?[^=<>]{1,14}|/[^=<>]{1,16})?[\s\u200b]*(?P<relation>[=<>≈≤≥]|\\equiv)[\s\u2009]*[-\u2212+]?$"
)
STATISTIC_TEXT = Cue(
    r"(?:^|[\s,;(])(?:[pPrtFdzZgUWb]|SD|SE|SEM|M|Mdn|CI|AUC|R2|F1|OR|HR|RR|ICC|IQR|BF10|\\chi\^2)\s*(?:\([^)]*\))?\s*[=<>≈≤≥:]\s*[-\u2212]?$"
)
RELATION = Cue(r"(?:[=<>≈≤≥∈→≠]|\\propto|\\leftarrow|\\gets|\\coloneqq|:=|\\colon)[\s\u2009]*[-\u2212+]?$")
STATISTIC_NAME = Cue(r"\b(?:(?:odds|hazards?|risk|rate|incidence) ratio|relative risk|kappa|cronbach's (?:\\?alpha|α)|auc|auroc|f1(?:[ -]score)?|accuracy|icc)[\s$]*(?:\((?:or|hr|rr|aor|ahr)\))?[\s,:]*(?:of|=|was|is)?[\s$]*$", I)
ON_AVERAGE = Cue(rf"[\s\u2009\u00a0$]*(?:%|{UNIT}|[a-z-]+)?[\s\u00a0$]*,?\s*on average\b", I)
SAMPLE = Cue(r"(?:^|[^A-Za-z\\])(?P<symbol>\\?[nNkKmTLBSJ])(?:_\S{1,12})?\u200b?\s*[=≥≤<>]\s*$")
CONFIDENCE = Cue(
    r"[\s\u00a0-]*(?:(?:bootstrap|simultaneous|highest|bayesian|wilson|exact|upper|lower|two-sided)\s+)*(?:confidence|credible|bands?\b|intervals?\b|credibility|prediction intervals?|C(?:r)?Is?\b|C\.?L\.?(?![A-Za-z])|HDI|HPD|significance|level\b|power\b|(?:st|nd|rd|th)?[\s-]*(?:percentiles?|quantiles?|deciles?|quartiles?|centur(?:y|ies)|edition|-?fold cross|floor))",
    I,
)

LINK = r"(?:of|=|is|was|were|are|at|set to|fixed at|to|:|,|\(|between|from)"
CERTAIN_DESIGN = Cue(
    r"\b(?:learning[ -]rates?|batch(?:es)?(?: size)?s?|weight decay|momentum|discount factors?|replay buffer(?: size)?|decay rates?|time ?steps?|(?:prior|cut-?off) (?:mean|variance|frequency|radius|energy)|drop-?out(?: rate| probability)?|significance level|(?<!'s )(?<!'s \\)alpha(?=\s*(?:=|of|level|was|is|at|set))|chance(?: level| performance)?|seeds?|warm-?up|hidden (?:size|dimension|width)|"
    r"embedding (?:size|dimension)|context (?:length|window|size)|vocabulary(?: size)?|sequence length|mini-?batch(?:es)?(?: size)?|window size|patience|gradient clipping|clip(?:ping)?(?: norm| value)?|clipped|"
    r"sampling rate|frame rate|temperature parameter|regulari[sz]ation|label smoothing|hyper-?parameters?|step size|bin(?: width| size)s?|effect size of interest|power to detect [a-z ]{0,40}|minimum detectable [a-z ]{0,30}|"
    rf"top-\$?[pk]\$?|excitation|in (?:blocks|groups|batches|pairs|steps|increments) of|sparsity(?: level| ratio)?|(?:pruning|masking|sampling|mixing|split) (?:ratio|rate)|noise levels?|dos(?:es?|age)|(?:exposure|integration|acquisition|shutter|dwell|waiting?|hold(?:ing)?) times?|with probability|age (?:interval|group|range|band|class)s?|sample size|target sizes?|bounds|equivalence range|number of (?:layers|heads|epochs|iterations|neurons|units|clusters|trees|bins|folds|workers)(?: from)?|wavelength|magnification|kernel(?: size)?|stride|padding|beam(?: size| width)|pre-?specified)\s*(?:size|value|rate)?s?\s*{LINK}*\s*(?:{LINK}\s*)*(?:about|approximately|exactly|only|the)?\s*[$\u00a3\u20ac~≈]?\s*$",
    I,
)  # fmt: skip
LINKED_DESIGN = Cue(
    rf"\b(?:thresholds?|cut-?offs?|budgets?|tolerances?|(?<!noise )floors?|grids?|criterion|multipliers?|skip scales?|targets?)\s*(?:{LINK}\s*)+(?:about|approximately)?\s*[$~≈]?\s*$"
    r"|\bat\s+(?:depths?|widths?|multipliers?|scales?|lags?|degrees?|orders?|ranks?|positions?)\s*(?:\d+\s*(?:,|and|or|to)\s*)*$",
    I,
)  # fmt: skip
QUALIFIED = Cue(
    r"\b(?:at (?:most|least)|up to|every|per|each|first|last|next|within|maximum|minimum|limit|target|split)\s*(?:of|is|to)?\s*(?:the)?\s*$", I
)
CONDITION = Cue(r"\b(?:at|with|for|under|using)\s+(?:a|an|the)\s+(?!total|sum|combined|mean|average|maximum|median|typical|throughput|latency|execution|accuracy|precision|recall|perplexity|significance|probability|success|yield|gain|speed-?up|error|score|overhead|correlation|value|(?:theoretical|experimental|reported|measured|observed)\b)(?:[A-Za-z-]+\s+){1,4}of\s*$", I)
SPAN = Cue(r"(?<!lasted )(?<!lasts )\b(?:over|across|averaged over|for)\s*$", I)
CONDITIONAL = Cue(r"\b(?:when|if|whenever|assuming|suppose|provided|where|let|given|once|unless|until|at|under|using|after|within|beyond|with)\b", I)
CLAUSE = Cue(r"(?:^|[,;:(\u2014]|--)\s*(?:and\s+|or\s+|but\s+|e\.g\.,?\s+|that is,\s+)?(?:when|if|whenever|assuming|suppose|provided|where|let|given that|once|unless|until)\b[^,;:]*$", I)
"""A clause that says under which condition something holds."""
CATALOGUED = Cue(r"\b[A-Z]{2,}[\s\u00a0-]$")
ADDRESS = Cue(r"\b(?:Department of|University of|\w+ University|Institut\w* (?:of|for)|Laborator\w+|Observatory|School of|Faculty of|Cent(?:er|re) for)\b")
YEAR_PLACE = Cue(r"\b(?:in|since|until|by|during|circa|AD|CE)[\s\u00a0]$")
EARLY_YEAR = Cue(r"\b(?:in|since|until|circa|ca\.|AD|dated?|from|around|anno)[\s\u00a0]$|\b1[5-8]\d\d[\s\u00a0]*(?:to|and|--?|\u2013)[\s\u00a0]*$")
YEAR_RANGE = Cue(r"\b(?:1[89]|20)\d\d\s*(?:--?|\u2013|/)\s*$")
THERMAL = Cue(r"[\s\u2009\u00a0]*(?:\^?°\s?C|K|[kMG]?Hz|bar|rpm|[mk]?V|[GT]eV|[hkMG]?Pa)(?![A-Za-z])")
HARDWARE = Cue(
    r"[\s\u00a0-]*(?:[A-Za-z0-9-]+\s+)?(?:[gct]pus?(?!-h)|cores?|threads?|workers|machines|[GTM]i?B of (?:memory|RAM|disk)|(?:million |billion |[MBT]\s?)(?:parameters?|params|tokens)|(?:bootstrap|permutation|posterior)\s+\w+|permutations|resamples|bootstraps?)\b",
    I,
)
WEAK_DESIGN = Cue(
    r"\b(?:widths?|depths?|dimensions?|sizes?|lengths?|durations?|intervals?|concentrations?|doses?|dosage|temperatures?|voltage|spacing|resolution|steps?|nodes?|layers?|heads?|aged|scales?|over|rates? of)"
    r"\s*(?:runs?\s|ranges?\s|varies\s)?(?:of|=|is|are|at|between|from|:)*\s*(?:about|approximately)?\s*$",
    I,
)  # fmt: skip
DESIGN_VERB = Cue(
    r"\b(?:we (?:\w+ly |also |then )?(?:simulate|repeat|generate|perform|select|keep|kept|consider|apply|collect|sample|vary|survey|interview|analy[sz]e|stud(?:y|ie)|examine|inspect|annotate|crawl|quer(?:y|ie)|download|split|scale|limit|label|normali[sz]e)(?:e?d)?|us(?:e[ds]?|ing)|set(?:ting)? (?:to|at|the)|(?:is|was|are|were|we|be) set|fix(?:ed|ing)?|train(?:ed|s)?|we train|sampled|sampling|drawn?|drew|choos(?:e|ing)|chosen?|assum(?:e[ds]?|ing)|mask(?:ed)?|(?<!-)repeated|initiali[sz]ed?|consist(?:s|ed|ing)?|"
    r"compris(?:es?|ed|ing)|recruited|enrol(?:l?ed)?|collected|randomi[sz]ed|randomly|allocated|assigned|evacuated|tuned to|excited at|pumped at|sonicated|transfected|seeded|cultured|reared|scanned|incubated|annealed|deposited|dried|calcined|irradiated|stirred|sintered|mounted|digested|heated|cooled|centrifuged|stored|lowered linearly|ramped|"
    r"warmed up|(?:we|was|were|is|are) var(?:y|ied)|varying the|swe(?:ep|pt)|administered|escalated|titrated|injected|housed|fed|dosed|treated with|diluted|washed|invited|interviewed|screened|(?:was|were|is|are|be) run|we run|ran(?! from| at| to)|evaluated (?:on|with|over)|"
    r"optimi[sz]ed|implemented|resampl(?:ed|ing)|discard(?:ed)?|exclud(?:e[ds]?|ing)|built|defaults?|requires?|"
    r"subsampled?|acquired|prune(?:d)?|fine-?tuned?|pre-?trained|prompt(?:ed)?|decoded?|quanti[sz]ed|chose|(?:was|were) added|performed with|appl(?:y|ied)|presented (?:for|at)|shown (?:for|at|on)|waited|averag(?:ed|ing) over|for which|registered|designed|planned|employed|received|took part|participated|volunteered|"
    r"completed|annotated|(?<!un)labell?ed|surveyed|parcellated|binned|discreti[sz]ed|segmented into|grouped into|interpolated|smoothed|filtered|downsampled|rescaled|covers?|covering|capped|truncated|padded|resized|cropped|divided|partitioned|held out|reserved?|paid|compensated|followed for|priors? (?:were|was|are|is|with)|medians? over|means? over|averages? over|power to detect)\b[^.;:\ue004]{0,60}$",
    I,
)  # fmt: skip
COUNTED = Cue(
    r"[\s\u00a0-]*(?:(?!(?:in|at|of|for|on|with|to|from|and|or|per|by|after|before|than|over|under|as|while|when|against)\b)[A-Za-z0-9-]+\s+){0,2}(?:layers?|blocks?|heads?|epochs?|steps?|iterations?|seeds?|runs?|folds?|participants|patients|subjects|volunteers|students|respondents|items|trials|tokens|gpus?|cpus?|cores?|threads?|nodes|"
    r"parameters|features|classes|categories|units|neurons|channels|repetitions|replicat(?:es|ions)|permutations|bootstrap|resamples|samples|examples|images|documents|sentences|words|questions|tasks|datasets?|models?|networks?|"
    r"agents|episodes|dimensions?|bins|points|levels|groups|arms|conditions|sites|centres|centers|hospitals|schools|plots|mice|rats|cells|animals|species|blocks|sessions|batches|sequences|pixels|filters|chains|draws|"
    r"experiments|studies|laps|cycles|machines|workers|characters|pages|wells|tubes|plates|grid|particles|atoms|sensors|cameras|items|raters|annotators|judges|configurations|set-?ups|resolutions|algorithms|combinations|researchers|coders|experts|observers|reviewers|interviewers|stimuli|variables|predictors|covariates|options|values|firms|households|respondents|scans|frames|sweeps|pulses|shots|exposures|copies|passes|entries|topics|pairs|gauges|cameras|electrodes|subscales)\b(?!\s+per\b|-hours?)",
    I,
)  # fmt: skip
ORDINAL = Cue(
    r"(?:st|nd|rd|th)[\s-]+(?:cycle|epoch|step|iteration|day|week|month|year|layer|block|grade|order|author|row|column|trial|fold|run|generation|session|visit|hour|minute|nearest|floor|power)\b"
)
LAYOUT_NAME = Cue(
    r"\\(?:arraystretch|baselinestretch|[A-Za-z@]*(?:sep|width|height|skip|size|fraction|number|depth|stretch|margin|penalty|limit))\s*\}?\s*(?:\[\d\])?\s*$"
)
HYPHENATED = Cue(
    r"-(?:bit|layer|layered|way|point|dimensional|shot|step|block|head|headed|hidden|year|week|day|month|hour|minute|second|item|core|class|token|character|gram|parameter|D\b|d\b|sided|tailed|nearest|stage|level|factor|pixel|channel|node|th)"
)
PRODUCT = Cue(r"\s*(?:[A-Za-zμµ]{1,2}\s*|\^?°\s*\u200b?\s*)?[×x*]\s*(?!10\s*\^)\d|\s*[- ]by[- ]\d|\s*\\times\s*\d")
CLAIM = Cue(
    r"\b(?:f[oi]und|finds?|(?<!was )(?<!were )recorded|counted|occurr?ed|occurs?|experienc\w+|scored|peaks? (?:at|in|near|around)|settles?|stays?|stayed|converts?|degrad\w+|emerg\w+|contributes?|constitut\w+|had died|relaps\w+|(?:ran|runs?|finish\w*|complet\w+|appears?) (?:in|at)|scales to|fires?|observ(?!ations?\b|ers?\b|ator)\w+|measur(?!ements?\b|es?\b)\w+|reach\w*|achiev\w+|obtain\w*(?! (?:using|with|by|on)\b)|yield\w*|increas\w+|decreas\w+|reduc\w+|improv\w+|drop(?!-?outs?\b)\w*|f[ae]ll\w*|rose|ris\w+|gain\w*|outperform\w*|recover\w*|collapsed?|accura\w+|error|medians? (?!over)|means? (?!over)|"
    r"average (?!over)|scores?|correlat\w+|differs?|differed|differences?|versus|vs|higher|lower|faster|slower|better|worse|longer|shorter|lasted|surviv\w+|responded|shows?|showed|took(?! part)|takes|needed|needs|costs?|gave|gives|raised?|raises|shr[aiu]nks?|slowest|fastest|highest|lowest|largest|smallest|strongest|weakest|most(?! recent)|fewer|larger|smaller|more than|less than|withdrew|present in|explain\w*|account\w*|estimat\w*|exceed\w*|remain\w*|went|doubl\w+|result(?:ed|s|ing)? in|grew|"
    r"declin\w+|logged|inferred|impl(?:y|ies|ied)|constrains?|constrained|caused by|left with|leaving|lies|shorten\w*|lengthen\w*|averag(?:es|ed)(?! over)|amount(?:s|ed) to|was calculated|agreement|fad(?:es|ed)|success\w*|fail\w*|succeeded|resulted|significant\w*|evidence|detected|converged|predicted|loses|lost|won|beat|missed|(?<!was )(?<!were )kept|identif\w+|settled|ended|died|agreed|preferred|total of|prevalence|incidence|rate was|peaked|dominat\w+|attain\w*|total(?:l?ed))\b",
    I,
)  # fmt: skip
OWN = Cue(r"^\W*(?:this|these) (?:exceeds?|improves?|outperforms?|agrees?|is|are|compares?|corresponds?)\b|\b(?:we|our|ours|us|this (?:work|study|paper|article)|here|the (?:present|resulting|final))\b", I)
FACTOR = Cue(r"\d[\s$]*(?:[A-Za-zμµ]{1,2}|\^?°\u200b?)?[\s$]*(?:[×x*]|[- ]by[- ])[\s$]*$")
SELECTS = Cue(r"[^.;]{0,60}\b(?:were|are|was|is)\s+(?:\w+ly\s+)?(?:dropped|excluded|ignored|removed|discarded|kept|retained|selected|inspected|considered|masked|included|rejected|accepted|flagged)\b", I)
"""What was done with the things that a bound picks out."""
BOUNDED = Cue(r"\b(?:\w+er than|below|above|under|over|within|at least|at most)\s+(?:\S{1,3}\s*=\s*)?$", I)
SUBJECT_BOUND = Cue(r"^\W*(?:(?:the|all|any|every)\s+)?(?:\w+\s+)?\w+\s+(?:under|below|above|older than|younger than|aged)\s*$", I)
HEADED = r"(?:condition|treatment|group|arm|variant|configuration|regime|scenario|set-?up|setting|version|mode|protocol)\b(?!\s+(?:effects?|differences?)\b)"
NAMES_CONDITION = Cue(rf"[\s\u00a0$-]*(?:%|[A-Za-z]+)?(?:\s?/\s?\d+\s[a-z]+)?[\s-]{HEADED}", I)
NAMED_BEFORE = Cue(r"\b(?:the|each|an?|in|per|every|this|that)[\s$]+(?:\\?[A-Za-z]+[\s$]*=[\s$]*)?$", I)
CONDITION_SYMBOL = re.compile(rf"\b(?:conditions?|treatments?|groups?|levels?)(?:\s+of(?:\s+\w+)?){{0,1}}[\s(]+(?P<first>[A-Z][A-Za-z]{{0,5}})\s?=|\b(?P<second>[A-Z][A-Za-z]{{0,5}})\s?=\s?-?[\d.]+\s{HEADED}")
"""A symbol whose values name conditions: `in condition SR = 2`, `the SR=1 condition`."""
SYMBOL_VALUE = re.compile(r"\b(?P<symbol>[A-Z][A-Za-z]{0,5})[\s$]*=[\s$]*$")
NAMED_VALUE = Cue(r"\b(?:embeddings?|dimensions?|layers?|heads?|filters?|kernels?|epochs?|sizes?|depth|width|stride|window|units|rank|length|iterations)\s*(?:\(|=)\s*$", I)
OF_CONSTANT = Cue(r"[\s\u00a0$-]+(?:(?:in|as|for)\s+(?:the\s+)?)?(?:learning[ -]rates?|batch size|drop-?out|weight decay|momentum|warm-?up)\b", I)
AGED = Cue(r"\b(?:children|infants|adults|patients|participants|women|men|people|subjects|students|individuals|those|persons)\s+(?:aged\s+)?(?:less|more|older|younger|under|over|above|below|at least|between)(?:\s+than)?\s*$", I)
AGE = Cue(r"(?:\s*(?:and|to|--?|\u2013)\s*\d+)?[\s\u00a0-]*(?:years?|months?|yrs?|weeks?|days?)\b", I)
COORDINATE = Cue(r"[\s\u2009]*\^?°\u200b?[\s$]*[NSEW]\b")
SCALED = Cue(r"\b(?:scales? (?:of|from)\s*(?:\d+\s*(?:to|--?|\u2013|and))?|(?:scored|rated) (?:from|between)\s*(?:\d+\s*(?:to|and))?|in units of)\s*$", I)
ADOPTS = Cue(r"\b(?:adopt|assum|fix|set|choos|chose|tak)(?:ed|ing|s|e|en)?\b", I)
"""Words by which a writer sets a symbol."""
SETTING_NOUN = Cue(r"\b(?:thresholds?|cut-?offs?|tolerances?|parameters?|bandwidths?|steps?|step sizes?|rates?|constants?|tolerance)\s*(?:of\s*)?$", I)
COPULA = Cue(r"\b(?:is|was|are|were)\s+(?:about\s+|only\s+)?[~$≈]?\d", I)
"""A statement of what a quantity is."""
PASSIVE = Cue(
    r"\b(?:was|were|is|are|be|been|being)\s+(?:\w+ly\s+|then\s+|first\s+)?(?:\w+ed|kept|held|set|cut|grown|made|given|taken|run|built|chosen|drawn|spun|put|fed|shown|ground|driven|frozen|spread|split)\b"
    r"|\b(?:contain(?:s|ed)?|consist(?:s|ed)?|compris(?:es?|ed)|had|we|using|add(?:ed)?)\b|[a-z]\s*=\s*\d",
    I,
)
"""Something was done, or is made of something."""
GOES_ON = Cue(r"[^.;]{0,40}\b(?:are|were|is|was|has|have|had|do|does|did|can|could|may|must|\w+ed)\b", I)
WITH_P = re.compile(r"[^.;]{0,20}[\s($]p\s*[=<>≤]", re.IGNORECASE)
OR_MORE = Cue(r"[\s\u00a0-]*(?:%\s*)?(?:\w+\s+)?(?:or|and)\s+(?:older|younger|more|less|fewer|higher|lower|greater|above|below|over|under|longer|later|beyond)\b(?!\s+[$~\d])", I)
"""A bound: `18 years or older`."""
DOSED = Cue(rf"[\s\u2009\u00a0]*{UNIT}(?:/{UNIT})?[\s\u00a0]+(?:once|twice|three times|daily|weekly|monthly|orally|intravenously|subcutaneously|per day|a day|every)\b")
PARTS_OF_NET = Cue(r"[\s\u00a0$-]*(?:[A-Za-z-]+\s+)?(?:layers|heads|channels|filters|neurons|hidden units|residual blocks|attention heads|beams|warm-?up steps)\b", I)
TAKES_AWAY = Cue(r"\b(?:remov|prun|sav|drop|skip|need|requir|only|kill|los)\w*\s*$", I)
LEVEL_OF = Cue(r"\bat\s*$", I)
NOUN = Cue(r"[\s\u00a0]+(?!per\b|of\b|in\b|and\b|or\b|each\b|for\b|by\b|on\b|with\b|to\b|when\b|after\b|while\b|vs\b|versus\b|from\b|compared\b|because\b|as\b)[a-z]{4,}")
CONSIDERED = Cue(r"[^.;]{0,40}\b(?:was|were|is|are)\s+(?:considered|regarded|defined|taken|deemed)\b", I)
WITH_THINGS = Cue(r"[\s$]*[a-z-]+(?:\s[a-z]+)?,")
IS = Cue(r"\b(?:is|was|are|were)\s+(?:(?:of|about|around|only|roughly|approximately|nearly|almost|over|just|on average)\s+)*[$~≈\s]*$", I)
INCREMENT = Cue(r"[\s$]*(?:×|x\b|%|-?fold\b|(?:percentage )?points?\b|per ?cent\b)", I)
PAID = Cue(r"\b(?:paid|compensated|reimbursed|rewarded|received?s?)\s+(?:\w+\s+){0,3}\\?[$£€]\s*$", I)
POWER = Cue(r"\bpower (?:analysis|calculations?)\b|%\s*power\b", I)
HOLDING = Cue(r"\b(?:data ?sets?|treebanks?|vocabular(?:y|ies)|archives?|questionnaires?|ensembles?|workloads?|stores?|caches?|clusters?|benchmarks?|corpus|corpora|panels?|surveys?|models?|networks?|architectures?|suites?|splits?|sets?)\b[^.;]{0,40}\b(?:contain(?:s|ed|ing)?|ha(?:s|ve|d)|includ(?:es?|ed|ing)|compris(?:es?|ed|ing)|consist(?:s|ed|ing)?(?: of)?|holds?|have|spans?|covers?)\b[^.;]{0,60}$", I)
"""What a data set or a network consists of."""
RESTRICTED = Cue(r"\b(?:(?:with|having)\s+(?:an?\s+)?|(?:and|,)\s+an?\s+)(?:[A-Za-z-]+\s+){0,3}(?:higher|lower|greater|less|more|larger|smaller|fewer|above|below|longer|shorter|older|younger|better|worse)(?:\s+than)?\s*$", I)
"""A clause that picks out what is looked at: `with a support higher than`."""
COMPARED = Cue(r"\b(?:higher|lower|greater|less|more|larger|smaller|fewer|longer|shorter|better|worse|most|least|faster|slower)(?:\s+than)?\b", I)
SIZE = Cue(r"(?:^|[^A-Za-z\\_])(?P<symbol>[nN])\s*=\s*(?:\d+\s*(?:to|or|and|--?|\u2013)\s*)?$")
SIZES = re.compile(r"(?<![A-Za-z\\_])[nN]\s*=\s*\d")
PERCENT_AHEAD = Cue(r"\d\s*%\)?(?:\s+of)?(?:\s+(?!intervals?\b|confidence\b|credible\b)[a-z-]+){0,3}[\s,;(\[]*$")
PERCENT_BEHIND = Cue(r"\s*(?:[,;=(]|or)\s*\(?\d+(?:\.\d+)?\s*%\s*[),;]")
PORTION = Cue(r"\b(?:most|majority|minority|few|some|many|several|remaining|rest|others?|half|only)\b[^.;,()]{0,60}\(?\s*$", I)
SORTS = Cue(r"\b(?:most|majority|few|followed by|remaining|rest|common\w*|frequent\w*|excluded|exclusion|reasons?|reported|mentioned|responded|answered|dropped out|withdrew|met|eligible)\b|%", I)
"""What a sentence does that sorts things and tells how many fell under each head."""
ASSIGNED = Cue(r"\b(?:assigned|allocated|randomi[sz]ed|divided|recruited|enrol(?:l)?ed|invited)\b", I)
REPORTS = Cue(r"[\s\u00a0$]+(?:[A-Za-z-]+\s+){0,2}(?:articles?|records?|abstracts?|titles?|full[- ]texts?|studies|papers|publications|citations|hits|reports?|references|evaluations|trials)\b", I)
SCREENED = Cue(r"\b(?:returned|retrieved|screened|duplicates?|inclusion criteria|eligib\w+|full[- ]texts?|for inclusion|data extraction|(?:search|query|queries)\b[^.;]{0,60}\b(?:found|gave|identified|yielded|produced))\b", I)
"""How a systematic search went."""
KEPT = Cue(r"[\s\u00a0$]+(?:included|eligible|retained|remaining|identified|unique)\s", I)
SEXES = Cue(r"[\s\u00a0$]+(?:were\s+)?(?:wom[ae]n|m[ae]n|females?|males?|girls?|boys?)\b", I)
FROM_THINGS = Cue(r"\d(?:\s+[a-z-]+s)?\s+from\s*$", I)
WHOLE = Cue(r"\W*(?:out )?of (?:the|these|those|all|our)\s*\|", I)
PART = Cue(r"\W*(?:out )?of (?:the|these|those|all|our)?\s*\d[^.;,()]{0,80},\s(?:[a-z]+\s){0,2}\|", I)
OF_WHOM = Cue(r"\bof (?:whom|which|these|those),?(?:\s(?:only|about|around|over))?[\s$]*$", I)
GOES_ON_WITH = Cue(r"[^.;]{0,90},\s[^.;]{0,20}?\b(?:\d|one|two|three|four|five|six|seven|eight|nine|ten|none|only|half|most)", I)
HOLDS = Cue(r"\b(?:contain|compris|includ|hold|cover|represent|span|yield|giv|gave|produc)\w*\s*(?:a total of|in total|about|over|around|only)?[\s$]*$", I)
LEFT = Cue(r"\b(?:resulting|remaining|final|filtered|cleaned)\s+(?:\w+\s+){1,3}(?:contain|compris|consist|includ|ha[sd]|hold)\w*\b[^.;]{0,40}$", I)
DISTINCT = Cue(r"[\s\u00a0$]+(?:[a-z-]+\s)?(?:unique|different|distinct)\s", I)
STATISTIC_LISTED = re.compile(r"[A-Za-zα]\d{0,2}\u200b?\$?\s*[=:]\s*\$?\d+(?:\.\d+)?|\d[\s$]*\^?°[\s$\u200b]*[NSEW]\b")
SIGMA = Cue(r"[\s\u00a0$-]*(?:\\sigma|sigma|σ)[\s\u00a0$-]*(?:larger|smaller|higher|lower|above|below|away|of|from|tension|discrepan\w+)")
AGREES = Cue(r"\b(?:agree\w*|consistent|within|significance|deviat\w+|tension|excess|detection|exceed\w*)\b", I)
ANNOUNCES = Cue(r"\b(?:yields?|yielded|gives?|gave|f[oi]nd|found|obtain\w*|result\w*|measur\w*|estimat\w*|derive[sd]?|infer\w*|rate|value)\b[^.;]*$", I)
STRONG_COUNT = Cue(r"[\s\u00a0-]*(?:[A-Za-z-]+\s+){0,2}(?:seeds?|folds?|layers|heads|[gct]pus?|cores|threads|runs|blocks|repetitions|replications|replicates|restarts|epochs|permutations|resamples|replicates?)\b", I)
DRAWN_FROM = Cue(r"\b(?:from|over|across|of|with|using|by creating|in|on|for|per|these|the|all)\s*(?:the\s+)?$", I)
AT_VALUE = Cue(r"\b(?:at|for|with|where|when|if|let|using|setting|choose|fix|take|energies|i\.e\.,?)\s+(?:\w+\s+){0,2}[^\s=<>(]{1,14}(?:\([^)]*\))?[\s\u00a0]*=[\s\u00a0]*$", I)
SECTIONED = Cue(r"[\s\u00a0]*(?:[:.(\u2014\u2013]|$|(?<=\s)[A-Z][a-z])")
DETERMINER = Cue(r"\b(?:the|this|that|its|their)[\s\u00a0]$", I)
PREPARING = Cue(r"(?:set|fix|train|perform|anneal|deposit|irradiat|heat|cool|stir|warm|ramp|optimi|initiali|choos|chose|clip|default)", I)
VOLUME_BEFORE = Cue(r"\b\d+\s*(?:\(\d+\)\s*)?[,:]\s*(?:\d+\s*[\u2013-]+\s*)?$")
VOLUME_AFTER = Cue(r"\s*(?:\(\d+\))?\s*[,:]\s*[A-Z]?\d+(?:\s*[\u2013-]+\s*\d+)?\s*,?\s*\((?:19|20)\d\d\)")
PAGE_AFTER = Cue(r"(?:\s*[\u2013-]+\s*\d+)?\s*,?\s*\((?:19|20)\d\d\)")
ENTRY = Cue(r"(?:\[?\d+[\].]\s*)?[A-Z][\w'\u2019-]+(?:,\s*|\s)[A-Z]\.?(?:[A-Z]\.?|[\s-])*[,.&;:(][^\n]*?(?:\((?:19|20)\d\d[a-z]?\)[.,:]|(?:19|20)\d\d;\s*\d|\b\d+\s*\(\d+\)\s*[:,]\s*\d+|\b\d+\s*,\s*\d+\s*\((?:19|20)\d\d\))")
"""How an entry of a bibliography opens: `Smith, J., ... (2008).`, `Smith J. ... 2010;12`."""
POSTAL = Cue(r"\b[A-Z]{2},?[\s\u00a0]*(?:\d{5}-)?$")
LIMIT_CLASS = Cue(r"\b(?:classified|defined|considered|counted|regarded|coded|categori[sz]ed|treated|flagged|labell?ed) as\b[^.;]{0,60}$", I)
EVERYWHERE = Cue(r"\b(?:in|for) all (?:\w+\s)?(?:experiments|runs|cases|simulations|calculations|measurements|trials|tests|models|conditions)\b|\bthroughout\b", I)
POINT_IN_TIME = Cue(r"(?:\s*(?:,|and|or|to|--?|\u2013)\s*\d+)*[\s\u00a0-]*(?:hours?|days?|weeks?|months?|years?|h|(?:\w+\s)?cycles|passages)\b", I)
STREET = Cue(r"(?:\s+[A-Z][a-z]+){0,2}\s+(?:Rd|St|Street|Road|Ave|Avenue|Blvd|Boulevard|Broadway|Lane|Drive|Floor|Stra(?:ss|ß)e)\b|\s+Broadway\b")
BOTH_SIDES = Cue(r"\s*[-\u2212]?\d*\.\d+\s*[<≤][^<≤\d]*\d?[^<≤\d]*[<≤]\s*[-\u2212]?\d*\.\d+\W*$")
SLOPES = Cue(r"\b(?:slopes?|exponents?|powers?|scalings?)\b(?:of|and|or|[-\u2212\d/,\s])*$", I)
FRONTED = Cue(r"^\W*(?:At|Under|Using|After|Within|Beyond|Until)\b(?:(?!\b(?:the|is|was|are|were|reach\w*|mean|median|average)\b)[^,;:.\d]){0,60}$|(?:[;:(]|,\s+(?:and|but|while))\s*at\s+(?:an?\s+)?(?:[A-Za-z]+\s+){0,2}\$?$|^\W*With\s+an?\s+[^,;:.]{0,50}\bof\s*$")
"""A condition that stands before the sentence it belongs to."""
SIZED = Cue(rf"[\s\u2009\u00a0-]*{UNIT}(?![A-Za-z])[\s\u00a0-]+(?:thick|wide|long|high|deep|tall|apart|in (?:diameter|length|width|height|thickness|depth|size|radius))\b")
COMPARATIVE = Cue(
    r"[\s\u2009\u00a0$-]*(?:(?:×|x|times|-?fold)[\s\u00a0$]+(?:\w+\s+)?(?:fewer|more|faster|slower|higher|lower|less|larger|smaller|better|worse|as|the|tighter|greater|cheaper)\b"
    r"|(?:(?!or\b|and\b)[A-Za-zμ%°]+\s+){0,2}(?:higher|lower|faster|slower|larger|smaller|shorter|longer|earlier|better|worse|ahead|behind|tighter|greater|cheaper)\b)",
)
"""A difference that was found."""
LEGEND = Cue(r"\b(?:bars?|shad\w+|bands?|whiskers?|boxes|lines?)\s+(?:show|indicate|represent|denote|are|mark)s?\s*[$±\s]*$", I)
SHADED = Cue(r"\s*(?:SDs?|SEs?|SEM|s\.?\s?[de]\.?(?:m\.?)?|standard (?:deviations?|errors?)|sigma|\\sigma|σ)(?![A-Za-z])", I)
BAND = Cue(r"(?:[\s$]*(?:--?|\u2013|to)[\s$]*\d+(?:\.\d+)?)?[\s\u2009\u00a0]*[kMG]?Hz\s*\)")
CLASS_BOUND = Cue(r"\b(?:class|grade|stage|group|category|level|tier|quartile|tertile)\s+(?:[ivx]+|[a-d]|\d)\s*\((?:above|below|over|under)?[\s$]*(?:[-\u2212]?\d+(?:\.\d+)?[\s$]*(?:--?|\u2013|to)[\s$]*)?[-\u2212$]*$|\((?:above|below|over|under)\s*[-\u2212$]*$", I)
"""The bound of a class, in parentheses behind its name."""
SELECTING = Cue(r"\b(?:we (?:\w+ )?(?:consider|select|restrict|limit|retain|include|exclude|discard|mask|flag|reject|require)|(?:considered|selected|restricted|limited|retained|included|excluded|discarded|masked|flagged|rejected|required)|(?:selecting|restricting|limiting|excluding|discarding|masking|rejecting|requiring))\b(?P<between>[^.;:]{0,60})\b(?:below|above|under|over|within|between|than|least|most|exceeding)[\s$≈]*$", I)
DEVIATIONS = Cue(r"[\s$\u00a0]*(?:standard deviations?|SDs?\b|IQRs?\b|MADs?\b)", I)
BOUND_WORD = re.compile(r"(?:beyond|outside|below|above|under|over|within|between|than|least|most|exceeding)[\s$≈]*$")
ARTICLE = Cue(r"\b(?:an?|the|each|every)[\s$]*(?:\d+(?:\.\d+)?[\s$]*(?:--?|\u2013)[\s$]*)?$", I)
SAMPLE_OF = Cue(r"\b(?:(?:samples?|cohorts?)(?:\s+of)?|(?:participants|patients|students|adults|children|subjects|respondents|volunteers|teachers|individuals))[\s($]*\\?n\s*=\s*$", I)
MILLIONS = Cue(r"[\s\u00a0]+(?:million|billion|trillion|thousand)\b")
DONE_AFTER = Cue(r"[^.;:]{0,60}\b(?:was|were|is|are)\s+(?:\w+ly\s+)?(?:applied|used|employed|adopted|imposed|chosen|added|inserted|set|simulated|prepared|placed|mounted|injected)\b", I)
LASTING = Cue(r"\b(?:intervention|treatment|training|session|programme?|block|phase|practice|stimulus|prime|pulse|cue|trial|video|clip|tone|sound|interval)s?\s+(?:\w+\s+)?(?:lasted|lasts?|ran for)\s+(?:about\s+|approximately\s+)?$", I)
"""How long something was made to last."""
SUBJECT = Cue(r"^\W*(?:an?|each|every|one)\s+(?:\w+\s+)?$", I)
LABELLED_END = Cue(r"[\s$]*\([^)(\d]{2,40}\)[\s,]*(?:to|through)\s+[-$\d]", I)
LABELLED_START = Cue(r"\d[\s$]*\([^)(\d]{2,40}\)[\s,]*(?:to|through)\s+[-\u2212$]*$", I)
"""The ends of a scale with their labels: `from 1 (never) to 7 (always)`."""
SIGMA_NOUN = Cue(r"[\s\u00a0$-]*(?:\\sigma|sigma|σ)[\s\u00a0$-]+(?:(?:point[ -]source|upper|limiting|detection)\s+)?(?:depth|limit|clip|threshold|cut|rejection|contour|outlier)\w*")
PLANNED = Cue(r"\bto (?:detect|find|achieve|reach|obtain)\b|\bsuffic\w+|\bneeded\b|\brequired\b|\ba priori\b", I)
CAUSES = Cue(r"[^.;]{0,80}\b(?:raises?|increases?|decreases?|reduces?|lowers?|leads?|corresponds?|implies|predicts?|(?:is|are) associated|adds?|yields?|translates?|changes?|cuts?|would)\b", I)
PREDICATE = Cue(r"\b(?:is|was|are|were|be|of|to|by|than|equals?)\s*(?:about|approximately|around|roughly|only|nearly|almost|just|over|under)?\s*[$~≈(]*\s*$", I)
"""What is said of a thing, not what the thing is made of."""
RANGE_BEFORE = Cue(r"\d+(?:\.\d+)?[\s$]*(?:--?|\u2013|to|and)[\s$]*$", I)
CHANGE = Cue(r"[\s\u00a0-]*\S+[\s\u00a0-]+(?:\w+\s+)?(?:gain|loss|shift|increase|decrease|reduction|drop|rise|fall|improvement|difference|delay|error|deviation|advantage|speed-?up|gap|excess|offset|change|decline|penalty|bias|lead|lag|detection)\b", I)
ATTRIBUTIVE = Cue(rf"(?P<hyphen>-)?[\s\u2009\u00a0]*{UNIT}(?:/{UNIT})?(?![A-Za-z])(?:[\s\u00a0]|-(?=[a-z]))(?!(?:in|at|of|for|on|with|to|from|and|or|per|by|after|before|than|over|under|as|while|when|against|that|which|is|was|are|were|later|longer|shorter|away|apart|more|less|each|respectively|up|down|only|when|if|because|since|until|during|through|between|within|among|across|into|below|above|around|about|without|but|so|then|earlier|upon|mol|[a-z]+er)\b)(?:[a-z]{{3,}})")
"""A measure that stands before a noun: `a 2-min cadence`, `4 mm disk`."""
TIME = Cue(r"(?:\s*(?:,|and|or|to|--?|\u2013)\s*\d+)*[\s\u00a0-]*(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|h|min|epochs?|iterations?|steps?)\b(?!\s+(?:later|longer|earlier))", I)
