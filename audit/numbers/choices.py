"""Words by which somebody chooses: what tells a design constant, matched just before or after a number."""

from __future__ import annotations

import re

from audit.numbers.cues import UNIT, Cue, I

CONFIDENCE = Cue(
    r"[\s\u00a0}\])-]*(?:(?:bootstrap|simultaneous|highest|bayesian|wilson|exact|upper|lower|two-sided)\s+)*(?:confidence|credible|bands?\b|intervals?\b|credibility|(?:prediction|forecasts?|tolerance|uncertainty) intervals?|C(?:r)?I(?:s(?!-))?\b|C\.?L\.?(?![A-Za-z])|HDI|HPD|significance|level\b|power\b|(?:st|nd|rd|th)?[\s-]*(?:percentiles?|quantiles?|deciles?|quartiles?|centur(?:y|ies)|edition|-?fold cross|floor))",
    I,
)
LEVELS = Cue(r"\b(?:confidence|credible|credibility|prediction)\s+(?:intervals?|levels?|bands?)\s*\(\s*(?:(?:e\.g\.|i\.e\.|here|for example),?\s*|[$]?[<>≤≥]\s*)[$]?$", I, ("confidence", "credib", "prediction"))
PERCENTILES = Cue(r"(?:th|st|nd|rd)?[\s$]*(?:--?|\u2013|to|and)[\s$]*\d+(?:th|st|nd|rd)?[\s\u00a0-]+(?:percentiles?|quantiles?|deciles?|quintiles?|quartiles?)\b", I)
LINK = r"(?:of|=|is|was|were|are|at|set to|fixed at|to|:|,|\(|between|from)"
CERTAIN_DESIGN = Cue(
    r"\b(?:learning[ -]rates?|batch(?:es)?(?: size)?s?|weight decay|momentum|discount factors?|replay buffer(?: size)?|decay rates?|time ?steps?|(?:prior|cut-?off) (?:mean|variance|frequency|radius|energy)|drop-?out(?: rate| probability)?|significance level|(?<!'s )(?<!'s \\)alpha(?=\s*(?:=|of|level|was|is|at|set))|chance(?: level| performance)?|seeds?|warm-?up|hidden (?:size|dimension|width)|"
    r"embedding (?:size|dimension)|context (?:length|window|size)|vocabulary(?: size)?|sequence length|mini-?batch(?:es)?(?: size)?|window size|patience|gradient clipping|clip(?:ping)?(?: norm| value)?|clipped|"
    r"sampling rate|frame rate|temperature parameter|regulari[sz]ation|label smoothing|hyper-?parameters?|step size|bin(?: width| size)s?|effect size of interest|power to detect [a-z ]{0,40}|minimum detectable [a-z ]{0,30}|"
    rf"top-\$?[pk]\$?|excitation|in (?:blocks|groups|batches|pairs|steps|increments) of|sparsity(?: level| ratio)?|(?:pruning|masking|sampling|mixing|split) (?:ratio|rate)|noise levels?|(?<!-)dos(?:es?|age)|(?:exposure|integration|acquisition|shutter|dwell|waiting?|hold(?:ing)?) times?|with probability|age (?:interval|group|range|band|class)s?|sample size|target sizes?|bounds|equivalence range|number of (?:layers|heads|epochs|iterations|neurons|units|clusters|trees|bins|folds|workers)(?: from)?|wavelength|magnification|kernel(?: size)?|stride|padding|beam(?: size| width)|pre-?specified)\s*(?:size|value|rate)?s?\s*{LINK}*\s*(?:{LINK}\s*)*(?:about|approximately|exactly|only|the)?\s*[$\u00a3\u20ac~≈]?\s*$",
    I,
)  # fmt: skip
LINKED_DESIGN = Cue(
    rf"\b(?:thresholds?|guidelines?|cut-?offs?|budgets?|tolerances?|(?<!noise )floors?|grids?|criterion|multipliers?|skip scales?|targets?)\s*(?:{LINK}\s*)+(?:about|approximately)?\s*[$~≈]?\s*$"
    r"|\b(?:thresholds?|cut-?offs?|tolerances?|learning rates?|budgets?)\s+(?:of|for|in)\s+(?:the\s+)?\S+(?:\s+\S+)?\s+(?:is|was|were|are)\s*[$~≈]?\s*$"
    r"|\b(?:batch|patch|window|kernel|image|input|crop|step|mesh|grid|bin|tile|voxel|pixel|population|vocabulary) sizes?\s+(?:(?:for|of|in|during)\s+(?:the\s+)?\w+\s+)?(?:is|was|were|are)\s*[$~≈]?\s*$"
    r"|\b(?:fixed|prescribed|pre-?specified|nominal|default|predefined|preset|user-defined|tolerated|allowed|permitted)\s+(?:[\w-]+\s+){1,2}of\s*[$~≈]?\s*$|\bsubject to\s+an?\s+(?:[\w-]+\s+){1,4}of\s*[$~≈]?\s*$"
    r"|\bat\s+(?:depths?|widths?|multipliers?|scales?|lags?|degrees?|orders?|ranks?|positions?)\s*(?:\d+\s*(?:,|and|or|to)\s*)*$",
    I,
)  # fmt: skip
QUALIFIED = Cue(
    r"\b(?:at (?:most|least)|up to|every|per|each|first|last|next|(?<!to )within|maximum|minimum|limit|target|split)\s*(?:of|is|to)?\s*(?:the)?\s*$", I
)
SPAN = Cue(r"(?<!lasted )(?<!lasts )(?<!of )(?<!yield )(?<!than )(?<!with )\b(?:over|across|averaged over|for)\s*$", I)
CONDITIONAL = Cue(r"\b(?:when|if|whenever|assuming|suppose|provided|where|let|given|once|unless|until|at|under|using|after|within|beyond|with)\b", I)
CLAUSE = Cue(r"(?:^|[,;:(\u2014]|--)\s*(?:and\s+|or\s+|but\s+|e\.g\.,?\s+|that is,\s+)?(?:when|if|whenever|assuming|suppose|provided|where|let|given that|once|unless|until)\b[^,;:]*$", I)
"""A clause that says under which condition something holds."""
THERMAL = Cue(r"[\s\u2009\u00a0]*(?:arcsec|arcmin|fps|[kKM]bps|\^?°\s?C|K|[kMG]?Hz|bar|rpm|[mk]?V|[GT]eV|[hkMG]?Pa)(?![A-Za-z])")
HARDWARE = Cue(
    r"[\s\u00a0-]*(?:[A-Za-z0-9-]+\s+)?(?:[gct]pus?(?!-h)|cores?|threads?|workers|machines|[GTM]i?B of (?:memory|RAM|disk)|(?:million |billion |[MBT]\s?)(?:parameters?|params|tokens)|(?:bootstrap|permutation|posterior)\s+\w+|permutations|resamples|bootstraps?)\b",
    I,
)
WEAK_DESIGN = Cue(
    r"\b(?:widths?|depths?|dimensions?|sizes?|lengths?|durations?|intervals?|concentrations?|doses?|dosage|temperatures?|voltage|spacing|resolution|steps?|nodes?|layers?|heads?|aged|scales?|(?<!of )(?<!than )(?<!yield )over|rates? of)"
    r"\s*(?:runs?\s|ranges?\s|varies\s)?(?:of|=|is|are|at|between|from|:)*\s*(?:about|approximately)?\s*[$]?$",
    I,
)  # fmt: skip
ORDINAL = Cue(
    r"(?:st|nd|rd|th)[\s-]+(?:cycle|epoch|step|iteration|day|week|month|year|layer|block|grade|order|author|row|column|trial|fold|run|generation|session|visit|hour|minute|nearest|floor|power)\b"
)
OF_QUANTILES = Cue(r"(?:st|nd|rd|th)\b[^.;]{0,40}\d(?:st|nd|rd|th)\s+(?:percentiles?|quantiles?|deciles?)\b", I)
THREE = Cue(rf"[\s$]*(?:,[\s$]*\d+0?[\s$]*){{1,4}},?\s+(?:and|or)[\s$]*\d+[\s\u2009\u00a0$]*{UNIT}(?![A-Za-z])")
RESPECTIVELY = Cue(r"\brespectively\b|\bfound\b|\bmeasured\b", I)
WE_SELECT = Cue(r"\bwe\s+(?:then\s+|also\s+|further\s+|therefore\s+|initially\s+)*(?:search for|select|exclude|require|restrict|keep|retain|discard|cut|cross-match|query|reject|mask)(?:e?d)?\b", I, ("we ",))
CLASS_OF = Cue(r"\b(?:low|lower|medium|moderate|high|higher|small|large|young|younger|old|older|short|long|heavy|light|mild|severe|normal|deficien\w+|an[a]?emia|obes\w+|overweight|underweight)(?:-[a-z]+)?(?:\s+[a-z]+)?\s*\((?:[a-z]+\s+)?\$?\s*(?:[<>≤≥]\s*\$?\s*)?(?:\d+(?:\.\d+)?\s*(?:--?|\u2013|to)\s*)?$", I, ("(",))
CLASS_UNIT = Cue(r"(?:\s*(?:--?|\u2013|to)\s*\d+(?:\.\d+)?)?[\s\u2009\u00a0$~]*(?:\\?[A-Za-zμµ$]+(?:/[A-Za-z]+)?)[^()%=;]{0,16}\)", I)
"""What a class spans, in parentheses behind its name, with its unit: `low income (< 1.3 PIR)`."""
HAVE_LESS = Cue(r"\b(?:that|which|who)\s+ha(?:ve|s|d)\s*\$?[<>≤≥]\s*\$?$|\b(?:rates?|thresholds?|levels?|fdr|fwer)\)?\s*(?:of\s*)?\$?[≤<]\s*\$?$|\bvalues?\$?\s*\$?≤\s*\$?$", I)
BARE_INTERVAL = Cue(r"[\s\u00a0]+(?:intervals?|bands?)\b")
OF_DRAWS = Cue(r"\s+of\s+(?:the\s+|all\s+)?(?:posterior\s+|monte carlo\s+|bootstrap\s+)?(?:samples|draws|probability mass|realizations)\s+(?:have|lie|fall|are)\b", I)
WITH_SIGN = Cue(r"\b(?:with|having)\s+(?:an?\s+)?(?:[a-z]+\s+){1,3}\$?[<>≤≥]\s*\$?$", I)
SAMPLE_CONSISTS = Cue(r"(?<!final )(?<!resulting )(?<!analytic )(?<!remaining )\bsamples?\s+(?:consist(?:s|ed)?|compris(?:es|ed|e)|includ(?:es|ed|e))\s+(?:of\s+)?[$]?$", I, ("sample",))
KEEPS_P = Cue(r"(?<![\w-])p\$?\s+(?:below|above|under)\s*\$?$", I)
FAR_FROM = Cue(r"\b(?:when|whenever|if)\b[^,;:.]{0,50}\b(?:is|are)\s+(?:far|close|near|away)\s+(?:from|to)\s*\$?$", I, ("far", "close", "near", "away"))
AT_WHICH = Cue(r"\b(?:at|for|above|below) which\s+(?:about\s+)?$", I, ("which",))
RESAMPLED = Cue(r"\b(?:permut\w+|resampl\w+|bootstrap\w*|simulat\w+|dr[ae]wn?|randomly|reassign\w*|shuffl\w+|re-?estimat\w+|repeat\w*)\b", I)
TIMES = Cue(r"\s+times\b(?!\s+(?:more|less|higher|lower|faster|slower|larger|smaller|greater|as|the|better|worse))")
SAME = Cue(r"\bthe same\s+[$]?$|\b(?:balanced|random|independent|stratified|representative|convenience|fixed)\s+(?:sub-?)?samples?\s+of\s+(?:\d[\d,.]*\s+[\w-]+\s+and\s+)?[$]?$", I, ("same", "sample"))
ANALYSIS_OF = Cue(r"\b(?:analysis|survey|study|review|comparison)\s+of\s+(?:over|more than|about|nearly|some|around)\s+[$]?$", I, (" of ",))
THE = Cue(r"\b(?:the|these|our|all|each of the)\s+\$?[≈~]?\$?$", I)
LOOKED_AT = Cue(r"[\s$]+(?:(?!of\b|in\b|that\b|with\b|who\b)[\w-]+\s+){0,2}[a-z]+s\s+(?:tested|considered|examined|analy[sz]ed|studied|surveyed|evaluated|modell?ed|sampled|simulated)\b(?!\s+(?:positive|negative|by\b))|[\s$]+(?:analy[sz]ed|tested|studied|considered|examined|surveyed|simulated|sampled|modell?ed)\s+[a-z]+s\b", I)
LINE_AT = Cue(r"\s+(?:reference\s+)?(?:lines?|contours?|marks?)\b")
RANKED_BY = Cue(r"\s+(?:[\w-]+\s+){0,3}(?:by|according|ranked|ordered|most)\b")
PARITY = Cue(r"(?::1)?\s+(?:relation(?:ship)?|correspondence|line|mapping|match(?:ing)?|diagonal|randomi[sz]ation|allocation)\b")
PRODUCT = Cue(r"\s*(?:(?:[A-Za-zμµ]{1,2}|micron|px|pixels?)\s*|\^?°\s*\u200b?\s*)?[×x*]\s*(?!10\s*\^)\d|\s*[- ]by[- ]\d|\s*\\times\s*\d")
FACTOR = Cue(r"\d[\s$]*(?:[A-Za-zμµ]{1,2}|micron|px|pixels?|\^?°\u200b?)?[\s$]*(?:[×x*]|[- ]by[- ])[\s$]*$")
SELECTS = Cue(r"[^.;]{0,60}\b(?:were|are|was|is)\s+(?:not\s+|\w+ly\s+)?(?:dropped|excluded|ignored|removed|discarded|kept|retained|selected|inspected|considered|masked|included|rejected|accepted|flagged)\b", I)
"""What was done with the things that a bound picks out."""
BOUNDED = Cue(r"\b(?:\w+er than|less than|more than|below|above|under|over|beyond|within|at least|at most)\s+(?:\S{1,3}\s*=\s*)?$", I)
SUBJECT_BOUND = Cue(r"^\W*(?:(?:the|all|any|every)\s+)?(?:\w+\s+)?\w+\s+(?:under|below|above|older than|younger than|aged)\s*$", I)
HEADED = r"(?:condition|treatment|group|arm|variant|configuration|regime|scenario|set-?up|setting|version|mode|protocol)\b(?!\s+(?:effects?|differences?)\b)"
NAMES_CONDITION = Cue(rf"[\s\u00a0$-]*(?:%|[A-Za-z]+)?(?:\s?/\s?\d+\s[a-z]+)?[\s-]{HEADED}", I)
NAMED_BEFORE = Cue(r"\b(?:the|each|an?|in|per|every|this|that)[\s$]+(?:\\?[A-Za-z]+[\s$]*=[\s$]*)?$", I)
CONDITION_SYMBOL = re.compile(rf"\b(?:conditions?|treatments?|groups?|levels?)(?:\s+of(?:\s+\w+)?){{0,1}}[\s(]+(?P<first>[A-Z][A-Za-z]{{0,5}})\s?=|\b(?P<second>[A-Z][A-Za-z]{{0,5}})\s?=\s?-?[\d.]+\s{HEADED}")
"""A symbol whose values name conditions: `in condition SR = 2`, `the SR=1 condition`."""
SYMBOL_VALUE = re.compile(r"\b(?P<symbol>[A-Z][A-Za-z]{0,5})[\s$]*=[\s$]*$")
NAMED_VALUE = Cue(r"\b(?:embeddings?|dimensions?|layers?|heads?|filters?|kernels?|epochs?|sizes?|depth|width|stride|window|units|rank|length|iterations)\s*(?:\(|=)\s*$", I)
MACRO_OF_SETTING = re.compile(r"(?i:threshold|cut-?off|seeds?|epochs|batchsize|learningrate|budget|layers|heads|iterations|folds|warmup|bandwidth|tolerance)\}?\s*\{?\$?\s*$")
OF_CONSTANT = Cue(r"[\s\u00a0$-]+(?:(?:in|as|for)\s+(?:the\s+)?)?(?:learning[ -]rates?|batch size|drop-?out|weight decay|momentum|warm-?up)\b", I)
AGED = Cue(r"\b(?:children|infants|adults|patients|participants|women|men|people|subjects|students|individuals|those|persons)\s+(?:aged\s+)?(?:less|more|older|younger|under|over|above|below|at least|between)(?:\s+than)?\s*$", I)
AGE = Cue(r"(?:\s*(?:and|to|--?|\u2013)\s*\d+)?[\s\u00a0-]*(?:years?|months?|yrs?|weeks?|days?)\b", I)
PLACE = Cue(r"\b(?:lat|long?|latitude|longitude)\.?\s*[=:]\s*[-\u2212+]?$", I)
OF_SCALE = Cue(r"[\s$]*(?:--?|\u2013)[\s$]*\d{1,2}[\s$]+(?:[a-z]+\s)?(?:scores?|ratings?)\b|(?:[\s$]*(?:--?|\u2013|to)[\s$]*\d+)?[\s$]*(?:-\s?point\s+|\s)(?:likert\s+|rating\s+|response\s+)?scales?\b", I)
SCALED = Cue(r"\b(?:(?:score|scores|possible|theoretical|response) rang(?:e|es|ing)\s*(?:of|from|is|:)?\s*(?:\d+\s*(?:to|--?|\u2013|and))?|scales? (?:of|from)\s*(?:\d+\s*(?:to|--?|\u2013|and))?|(?:scored|rated) (?:from|between)\s*(?:\d+\s*(?:to|and))?|in units of)\s*$", I)
COPULA = Cue(r"\b(?:is|was|are|were)\s+(?:about\s+|only\s+)?[~$≈]?\d", I)
"""A statement of what a quantity is."""
PASSIVE = Cue(
    r"\b(?:was|were|is|are|be|been|being)\s+(?:\w+ly\s+|then\s+|first\s+)?(?:\w+ed|kept|held|set|cut|grown|made|given|taken|run|built|chosen|drawn|spun|put|fed|shown|ground|driven|frozen|spread|split)\b"
    r"|\b(?:contain(?:s|ed)?|consist(?:s|ed)?|compris(?:es?|ed)|had|we|using|add(?:ed)?)\b|[a-z]\s*=\s*\d",
    I,
)
"""Something was done, or is made of something."""
GOES_ON = Cue(r"[^.;]{0,40}\b(?:are|were|is|was|has|have|had|do|does|did|can|could|may|must|\w+ed)\b", I)
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
PAID = Cue(r"\b(?:paid|compensated|reimbursed|rewarded|received?s?)\s+(?:\w+\s+){0,3}\\?[$£€]\s*$", I)
POWER = Cue(r"\bpower (?:analysis|calculations?)\b|%\s*power\b", I)
HOLDING = Cue(r"(?<!final )(?<!resulting )(?<!remaining )\bdata ?sets? of[^.;]{0,60}$|\b(?:data ?sets?|treebanks?|vocabular(?:y|ies)|archives?|questionnaires?|ensembles?|workloads?|stores?|caches?|clusters?(?! \d)|cohorts?|benchmarks?|corpus|corpora|panels?|surveys?|models?|networks?|architectures?|suites?|splits?|sets?)\b[^.;]{0,40}\b(?:contain(?:s|ed|ing)?|ha(?:s|ve|d)|includ(?:es?|ed|ing)|compris(?:es?|ed|ing)|consist(?:s|ed|ing)?(?: of)?|holds?|have|spans?|covers?)\b[^.;]{0,60}$", I)
"""What a data set or a network consists of."""
RESTRICTED = Cue(r"\b(?:(?:with|having)\s+(?:an?\s+)?|(?:and|,)\s+an?\s+)(?:[A-Za-z-]+\s+){0,3}(?:higher|lower|greater|less|more|larger|smaller|fewer|above|below|longer|shorter|older|younger|better|worse)(?:\s+than)?\s*$|\bwith\b[^.;]{0,40}\bthan\s+\S{1,12}\s+but\s+(?:greater|higher|larger|more|less|lower|smaller|fewer)\s+than\s*$", I)
"""A clause that picks out what is looked at: `with a support higher than`."""
COMPARED = Cue(r"\b(?:higher|lower|greater|less|more|larger|smaller|fewer|longer|shorter|better|worse|most|least|faster|slower)(?:\s+than)?\b", I)
STRONG_COUNT = Cue(r"[\s\u00a0-]*(?:[A-Za-z-]+\s+){0,2}(?:seeds?|folds?|layers|heads|[gct]pus?|cores|threads|runs|blocks|repetitions|replications|replicates|restarts|epochs|permutations|resamples|replicates?|realizations|realisations|simulations|trials)\b(?!\s+(?:were|was|had)\b)", I)
DRAWN_FROM = Cue(r"\b(?:against|through|via|from|over|across|of|with|using|by creating|in|on|for|per|these|the|all)\s*(?:the\s+)?$", I)
AT_VALUE = Cue(r"\b(?:at|for|with|where|when|if|let|using|setting|choose|fix|take|energies|i\.e\.,?)\s+(?:\w+\s+){0,2}[^\s=<>(]{1,14}(?:\([^)]*\))?[\s\u00a0]*=[\s\u00a0]*$", I)
PREPARING = Cue(r"(?:set|fix|train|perform|anneal|deposit|irradiat|heat|cool|stir|warm|ramp|optimi|initiali|choos|chose|clip|default)", I)
EXCLUDED_IF = Cue(r"\b(?:excluded|removed|discarded|rejected|included|eligible|retained|dropped|flagged)\s+(?:from\s+(?:\w+\s+){1,3})?(?:if|when|whenever)\b", I, (" if", " when"))
LIMIT_CLASS = Cue(r"\b(?:classified|defined|considered|counted|regarded|coded|categori[sz]ed|treated|flagged|labell?ed|grouped) (?:as|into)\b[^.;]{0,60}$", I)
EVERYWHERE = Cue(r"\b(?:in|for) all (?:\w+\s)?(?:experiments|runs|cases|simulations|calculations|measurements|trials|tests|models|conditions)\b|\bthroughout\b", I)
SINGULAR = Cue(r"(?:[\s\u00a0]+{ONE}(?:,|\s+(?:and|or|to|vs\.?|versus))\s+\d+(?:\.\d+)?)*[\s\u00a0]+{ONE}\s+(?!(?:in|at|of|for|on|with|to|from|and|or|per|by|after|before|than|over|under|as|while|when|that|which|is|was|are|were|later|longer|shorter|earlier|ago|old|each)\b)[a-z]{3,}".replace("{ONE}", "(?:second|minute|hour|day|night|week|month|year|meter|metre|mile|inch|foot|degree)"))
"""A unit in the singular before a noun, behind one number or each of several: `6 day steps`, `1 day and 6 day steps`."""
POINT_IN_TIME = Cue(r"(?:\s*(?:,|and|or|to|--?|\u2013)\s*\d+)*[\s\u00a0-]*(?:hours?|days?|weeks?|months?|years?|h|(?:\w+\s)?cycles|passages)\b", I)
FRONTED = Cue(r"^\W*(?:At|Under|Using|After|Within|Beyond|Until)\b(?:(?!\b(?:the|is|was|are|were|reach\w*|mean|median|average)\b)[^,;:.\d]){0,60}$|(?:[;:(]|,\s+(?:and|but|while))\s*at\s+(?:an?\s+)?(?:[A-Za-z]+\s+){0,2}\$?$|^\W*With\s+an?\s+[^,;:.]{0,50}\bof\s*$")
"""A condition that stands before the sentence it belongs to."""
SIZED = Cue(rf"[\s\u2009\u00a0-]*{UNIT}(?![A-Za-z])[\s\u00a0-]+(?:thick|wide|long|high|deep|tall|apart|in (?:diameter|length|width|height|thickness|depth|size|radius))\b")
LEGEND = Cue(r"\b(?:lines?|bars?|bands?|contours?)\b[^.;\d]{0,40}\b(?:mark|show|indicate|represent|denote|delimit)\b[^.;]{0,12}±\s*$|(?:\*|\u2020|\u2021|\\d?dagger)[\s}$)]*[a-z]{1,3}[\s$]*[<>≤≥][\s$]*$|\b(?:bars?|shad\w+|bands?|whiskers?|boxes|lines?)\s+(?:show|indicate|represent|denote|are|mark)s?\s*[$±\s]*$", I)
SHADED = Cue(r"\s*(?:SDs?|SEs?|SEM|s\.?\s?[de]\.?(?:m\.?)?|standard (?:deviations?|errors?)|sigma|\\sigma|σ)(?![A-Za-z])", I)
BAND = Cue(r"(?:[\s$]*(?:--?|\u2013|to)[\s$]*\d+(?:\.\d+)?)?[\s\u2009\u00a0]*[kMG]?Hz\s*\)")
ZONE = Cue(r"\b(?:band|bin|shell|layer|zone|segment|window|stratum|quartile|tertile|quintile|grade|category|baseline)s?\s*\([\s$]*(?:\d+(?:\.\d+)?[\s$]*(?:--?|\u2013|to)[\s$]*)?$", I, ("(",))
ZONE_END = Cue(rf"(?:[\s$]*(?:--?|\u2013|to)[\s$]*\d+(?:\.\d+)?)?[\s\u2009\u00a0$]*{UNIT}[\s$]*\)")
"""What a band or shell spans, in parentheses behind its name: `the first shell (0-3 Å)`."""
CLASS_BOUND = Cue(r"\b(?:class|grade|stage|group|category|level|tier|quartile|tertile)\s+(?:[ivx]+|[a-d]|\d)\s*\((?:above|below|over|under)?[\s$]*(?:[-\u2212]?\d+(?:\.\d+)?[\s$]*(?:--?|\u2013|to)[\s$]*)?[-\u2212$]*$|\((?:above|below|over|under)\s*[-\u2212$]*$", I)
"""The bound of a class, in parentheses behind its name."""
SELECTING = Cue(r"\b(?:we (?:\w+ )?(?:consider|select|restrict|limit|retain|include|exclude|discard|mask|flag|reject|require)|(?:considered|selected|restricted|limited|retained|included|excluded|discarded|masked|flagged|rejected|required)|(?:selecting|restricting|limiting|excluding|discarding|masking|rejecting|requiring))\b(?P<between>[^.;:]{0,60})\b(?:below|above|under|over|within|between|than|least|most|exceeding)[\s$≈]*$", I, ("than", "below", "above", "under", "over", "within", "between", "least", "most", "exceeding"))
DEVIATIONS = Cue(r"[\s$\u00a0]*(?:standard deviations?|SDs?\b|IQRs?\b|MADs?\b)", I)
BOUND_WORD = re.compile(r"(?:beyond|outside|below|above|under|over|within|between|than|least|most|exceeding)[\s$≈]*$")
ARTICLE = Cue(r"\b(?:an?|the|each|every)[\s$]*(?:\d+(?:\.\d+)?[\s$]*(?:--?|\u2013)[\s$]*)?$", I)
SAMPLE_OF = Cue(r"\b(?:(?:samples?|cohorts?)(?:\s+of)?|(?:participants|patients|students|adults|children|subjects|respondents|volunteers|teachers|individuals))[\s($]*\\?n\s*=\s*$", I)
MILLIONS = Cue(r"[\s\u00a0]+(?:million|billion|trillion|thousand)\b")
DONE_AFTER = Cue(r"[^.;:]{0,60}\b(?:was|were|is|are)\s+(?:\w+ly\s+)?(?:applied|used|employed|adopted|imposed|chosen|added|inserted|set|simulated|prepared|placed|mounted|injected)\b", I)
LASTING = Cue(r"\b(?:intervention|treatment|training|session|programme?|block|phase|practice|stimulus|prime|pulse|cue|trial|video|clip|tone|sound|interval|period)s?,?\s+(?:\w+\s+)?(?:lasted|lasts?|ran for)\s+(?:about\s+|approximately\s+|at least\s+|at most\s+|up to\s+)?$", I)
"""How long something was made to last."""
SUBJECT = Cue(r"^\W*(?:an?|each|every|one)\s+(?:\w+\s+)?$", I)
LABELLED_END = Cue(r"[\s$]*\([^)(\d]{2,40}\)[\s,]*(?:to|through)\s+[-$\d]", I)
LABELLED_START = Cue(r"\d[\s$]*\([^)(\d]{2,40}\)[\s,]*(?:to|through)\s+[-\u2212$]*$", I)
"""The ends of a scale with their labels: `from 1 (never) to 7 (always)`."""
SIGMA_NOUN = Cue(r"[\s\u00a0$-]*(?:\\sigma|sigma|σ)[\s\u00a0$-]+(?:(?:point[ -]source|upper|limiting|detection)\s+)?(?:depth|limit|clip|threshold|cut|rejection|contour|outlier)\w*")
PLANNED = Cue(r"\bto (?:detect|find|achieve|reach|obtain|capture|identify|discern)\b|\bsuffic\w+|\bneeded\b|\brequired\b|\ba priori\b", I)
CAUSES = Cue(r"[^.;]{0,80}\b(?:raises?|increases?|decreases?|reduces?|lowers?|leads?|corresponds?|implies|predicts?|(?:is|are) associated|adds?|yields?|translates?|changes?|cuts?|would)\b", I)
PREDICATE = Cue(r"\b(?:is|was|are|were|be|of|to|by|than|equals?)\s*(?:about|approximately|around|roughly|only|nearly|almost|just|over|under)?\s*[$~≈(]*\s*$", I)
"""What is said of a thing, not what the thing is made of."""
RANGE_BEFORE = Cue(r"\d+(?:\.\d+)?[\s$]*(?:--?|\u2013|to|and)[\s$]*$", I)
CHANGE = Cue(r"[\s\u00a0-]*\S+[\s\u00a0-]+(?:\w+\s+)?(?:gain|loss|shift|increase|decrease|reduction|drop|rise|fall|improvement|difference|delay|error|deviation|advantage|speed-?up|gap|excess|offset|change|decline|penalty|bias|lead|lag|detection)\b", I)
ATTRIBUTIVE = Cue(rf"(?P<hyphen>-)?[\s\u2009\u00a0]*{UNIT}(?:/{UNIT})?(?![A-Za-z])(?:[\s\u00a0]|-(?=[a-z]))(?!(?:in|at|of|for|on|with|to|from|and|or|per|by|after|before|than|over|under|as|while|when|against|that|which|is|was|are|were|later|longer|shorter|away|apart|more|less|each|respectively|up|down|only|when|if|because|since|until|during|through|between|within|among|across|into|below|above|around|about|without|but|so|then|earlier|upon|mol|[a-z]+er)\b)(?!(?<=s )[a-z]+ing\b)(?:[a-z]{{3,}}|[A-Z]{{2,}}\s[a-z]{{3,}})")
"""A measure that stands before a noun: `a 2-min cadence`, `4 mm disk`."""
TIME = Cue(r"(?:\s*(?:,|and|or|to|--?|\u2013)\s*\d+)*[\s\u00a0-]*(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|h|min|epochs?|iterations?|steps?)\b(?!\s+(?:later|longer|earlier))", I)
BOUND_SIGN = Cue(r"(?:^|[\s(,])(?:i\.e\.,\s*)?\$?\s*(?P<sign>[<>≤≥])\s*\$?\s*$")
IF_BOUND = Cue(r"\bwhere\b[^.,;:]{0,60}\b(?:falls?|drops?|rises?|exceeds?)(?:\s+(?:below|above|to|under|over))?\s*[$~≈]?$|\b(?:probabilit(?:y|ies)|chances?|likelihood)\s+(?:of|for|to|that)\s+(?:[a-z]+\s+){0,4}(?:exceed\w*|surpass\w*|reach\w*|above|below)\s*[$~≈]?$|\b(?:if|whenever|unless|until)\b[^.,;:]{0,60}\b(?:below|above|under|over|than|least|most|exceed\w*|within|reach\w*|drops?|falls?|off by)(?: to)?\s*[$~≈]?$", I, ("if ", "where", "unless", "until", "probab", "chance", "likelihood"))
DEFINES_BOUND = Cue(r"\bwhose\b[^.;]{0,70}\bat (?:least|most)\s*[$]?$|\bdefin(?:e|es|ed|ing)\b[^.;]{0,120}\b(?:more|less|fewer|greater|larger|smaller|higher|lower|least|most|above|below|over|within|exceeding)(?: than)?\s*[$~≈]?$", I, ("defin", "whose"))
MUST = Cue(r"\b(?:should|must|shall|will (?:be|observe|use|collect|recruit|include|cover|measure|take|receive|run|last|consist)|needs? to be|ha(?:s|ve|d) to be)\b(?![^.;]{0,40}\b(?:found|observ|noted|mention)\w*)[^.;,]{0,60}$", I, ("should", "must", "shall", "need", "have", "has", "had", "will"))
MULTIPLIED = Cue(r"\b(?:multipl(?:y|ies|ied|ying)|divid\w+|rescal\w+|downscal\w+|upscal\w+|scaled|weighted|inflated|downsampl\w+|oversampl\w+|upsampl\w+|buffered|dilated|eroded|padded|cropped)\b[^.;]{0,40}\b(?:by|with)\s+(?:a\s+)?(?:(?:factors?|constants?|values?|weights?)\s+(?:of\s+)?)?[$~≈]?$", I, (" by", " with"))
OFFERED = Cue(r"\b(?:earn|win|receive|be paid|get|lose)\w*\s+(?:an?\s+)?(?:additional\s+|extra\s+)?(?:bonus|reward|payment|payoff|fee|prize)?\s*(?:of\s+)?\\?[$£€]?\s*$", I, ("earn", "win", "receive", "paid", "get", "lose"))
REWARD = Cue(r"\b(?:bonus|reward|payment|payoff|fee|prize|cents?|dollars?|euros?|credits|pounds)\b|[£€]|\\[$]", I)
SHARED_OUT = Cue(
    r"[\s\u00a0$]*(?:\([^()]{0,18}\)\s*)?(?:of\s+(?:[\w-]+\s+){1,5})?(?:(?:is|are|was|were)\s+)?(?:randomly\s+)?(?:(?:split|used|held|reserved|saved|assigned|allocated|withheld|kept|set aside|drawn|sampled|chosen|selected|masked|hidden|served?)\b|(?:to|for|as)\s+(?:the\s+)?(?:validation|test\w*|train\w*|development|calibration|evaluation)\b)",
    I,
)  # fmt: skip
RANDOM_PART = Cue(r"[\s\u00a0$]+(?:(?:random\s+)?(?:sub-?)?samples?|sub-?samples?|hold-?outs?|validation splits?|test splits?)\b(?!\s+(?:was|were|had|showed|responded))", I)
APPLIED_TO = Cue(r"\b(?:(?:delivered|applied|presented|given|shown|trained|fitted|tuned)\s+(?:on|to|in)|(?:we|then|here|and)\s+(?:randomly\s+)?(?:censor|mask|hide|hold out|withh[eo]ld|sample|subsample|drop|remove|keep|retain|select|prune|assign|corrupt)(?:e?d)?|keeping|masking|pruning|holding out|withholding)\s+(?:only\s+|the\s+(?:first|last|top|bottom)\s+)?\$?$|\b(?:the|using|taking|instead of the)\s+(?:first|last|top|bottom|remaining)\s+\$?$", I)
PROBABILITY = Cue(r"[\s\u00a0$]*(?:probability|chance|likelihood)\s+(?:that|of|to)\b", I)
DISTRIBUTION = Cue(r"\b(?:(?:gaussians?|normals?|priors?|noise|log-?normal|exponential|uniform|poisson)\b[^.;]{0,70}|distributions?\b(?:(?!\b(?:has|had|have|shows?|showed)\b)[^.;]){0,70})\b(?:mean|standard deviation|variance|sd|std|rate|scale|shape|location|width|half-life)\s+(?:of|=|parameter)?\s*[$≈~]?$", I, ("distribution", "gaussian", "normal", "prior", "noise", "exponential", "uniform", "poisson"))
SET_NOUN = Cue(
    rf"\b(?:bandwidths?|time ?(?:frames?|windows?)|windows?(?: (?:length|size|width)s?)?|(?:grid |mesh |time |sampling )spacing|sampling intervals?|horizons?|wait(?:ing)? times?|time-?outs?|duty cycles?|(?:step )?increments?|smearing|"
    rf"(?:conversion|correction|scaling|safety|calibration|dilution|weighting|damping|penalty) (?:factor|value|term|constant|weight)s?|correction value|relaxation (?:time ?scale|time)s?|change sizes?|settling period|delay period|(?:time-averaged )?power per \w+|field of view|lags?|cut|pass energy|k-points?|supercell|ph(?: value)?)"
    rf"\s*(?:{LINK}\s*)*(?:about|approximately|roughly|only)?\s*[$~≈]?\s*$",
    I,
)  # fmt: skip
SIZED_NOUN = Cue(r"\b(?:radius|radii|diameter|thickness|height|mass|charge|volume|pressure|speed|frequency|power|permittivity|duration|period|interval|length|width|delay|distance|depth|weight|amplitude|angle)s?\s*(?:of|=|:|\()?\s*(?:about|approximately|roughly)?\s*[$~≈]?$", I)
HAS_BUT = Cue(r"\b(?:has|have|had|host\w*|having|shows?|with a (?:total|mean|median))\b[^.;,]{0,80}$", I)
"""What a thing turned out to have."""
UNDER = Cue(r"\b(?:with|for|at|using|under|after|over|from|per)\s+(?:an?\s+|the\s+)?(?:[A-Za-z-]+\s+){0,2}(?:of\s+)?[$~≈]?$|\bunder\s+(?:[A-Za-z-]+\s+){1,6}of\s+[$]?[+-]?$|=\s*\$?$", I)
ASSERTED = Cue(
    r"\b(?:f[oi]und|finds|yield(?:s|ed)?|result(?:ed|s) in|total of|shows?|showed|g[ai]ves?|reveal(?:s|ed)?|identified|remained|reach(?:es|ed)|achiev(?:es|ed)|attain(?:s|ed)|mean age|median|on average|(?:left|leaving)|took|takes|lasted|returned|responded|completed|observed?|obtained|"
    r"increas(?:es|ed)|decreas(?:es|ed)|reduc(?:es|ed)|improv(?:es|ed)|dropp?(?:s|ed)?|fell|rose|grew|corresponds|estimated? (?:to|at|as|that)|peak\w*|measured to|had a|exhibit\w*|consum\w+|outperform\w*|correlat\w+|consisted|compris\w+|contain(?:s|ed)|skipped|failed|succeeded|died|agreed?|significant\w*|accura\w+|auc|visuali[sz]ed)\b",
    I,
)  # fmt: skip
THEREBY_COUNTED = Cue(r"\b(?:yielding|resulting in|giving|leaving|producing)\b(?![^.;]{0,60}\bby\b)[^.;]{0,90}$", I, ("yielding", "resulting in", "giving", "leaving", "producing"))
COUNTED_OUT = Cue(r"\b(?:contain(?:s|ed|ing)?|compris\w+|into|across|consumes?|is|was|are|were|be|of|only|total|than|by|to|there (?:are|were|was|is)|and|,|ha[sd]|have)\s*(?:about|approximately|around|roughly|only|nearly|almost|just|over|under)?\s*[$~≈(]*$|\[\s*$|[(]$", I)
TOLD_APART = Cue(r"[\s$]*(?:\(\d|of (?:\d|the|these|those|them|all|our)\b|out of|%|[\s,]+\]|\]|were\b|was\b|had\b|did\b|have\b)", I)
SET_TO = Cue(r"\b(?:fixed|set|held|kept)(?: in advance| beforehand| a priori)? (?:at|to)\s+(?:about\s+)?[$~≈]?$|\b(?:is|are|was|were|be|been|being|and|we|,)\s+(?:\w+ly\s+)?(?:set|fixed|chosen|assumed|taken|initiali[sz]ed|kept|held|restricted|limited|capped|tuned|defaulted)\s+(?:to\s+be|to|at|as)\s+(?:about|approximately)?\s*[$~≈]?$", I, (" to", " at", " as"))
PROCEEDS = Cue(r"\buntil (?:reaching|it (?:reaches|reached)|there (?:are|were))\s+(?:an?\s+)?(?:total of\s+|at least\s+|about\s+)?[$]?$|\bappl(?:y|ied|ies) an? (?:[a-z-]+\s){0,3}(?:ratio|rate|factor|level|threshold|cut-?off|penalty|weight) of [$~]?$|\brequirements? (?:of|that)\b[^.;]{0,60}\bat least [$]?$|\b(?:restrict|limit|fix|perform|repeat|use|using|ran|run)(?:e?d|s|ing)?\b[^.;]{0,60}(?:[\s{$]|\\mathcal)(?!p[\s$}])[A-Za-z][}$]*\s*=\s*$|\bwe (?:then\s|also\s)?(?:applied|apply|ran|run|evaluated|tested)\b[^.;,\d]{0,90}\b(?:to|on)\s(?:the\s|all\s)?[$]?$", I, ("until", "appl", "requirement", "=", " to ", "we "))
TO_DERIVE = Cue(r"\b(?:performed|used|applied|run|computed)\b[^.;]{0,60}\bto (?:derive|obtain|extract|generate|construct)\s(?:the\s)?[$]?$", I, (" to ",))
PUT_TO = Cue(r"[\s\u00a0$]+(?:[a-z-]+\s){0,2}[a-z-]+s (?:(?:were\s)?(?:divided|split|distributed|shared)\s(?:evenly|equally|randomly)\b|at a time\b|(?:for|on|over|with) which we (?:then\s)?(?:ran|run|tested|trained|simulated|computed|evaluated|repeated)\b)", I)
OR_AFTER = Cue(r"(?:,\s*\d+)+,?\s+or\s+\d+\b(?!\.\d)|,\s+or\s+\d+\b(?!\.\d)")
OR_BEFORE = Cue(r"\d,\s*(?:or\s)?$")
"""Whole numbers of which one is taken at a time: `2, 4, 8 or 16 layers`."""
"""What a procedure goes on to reach or asks for, and how many things it is run on: `until reaching 760 samples`, `2 columns at a time`."""
GIVEN = Cue(r"(?:^|[,;:(]|\bwith)\s*given\s+(?:that\s+)?(?:the|an?|our)\b[^,;:]{0,70}$", I, ("given",))
PARAMETERS_ARE = Cue(r"(?:\b(?:selected|chosen|tested|considered|examined|compared|swept)\s+(?:are|were)(?!\s+(?:\w+ly\s+)?(?:found|significant))(?=[\s$]*$|\s*:)|\b(?:parameters|settings|configurations?|values used)\s+(?:were|are|used)\b|parameters:|settings:)(?!\s+(?:estimated|found|fitted|derived|obtained|listed|given|shown))[^;:]{0,110}$", I, ("parameters", "settings", "configuration", "values used", " are", " were"))
ENGAGED = Cue(r"\b(?:recruit(?:ed|ing)?|sampled|enrol(?:l)?(?:ed|ing)?|invit(?:ed|ing)|hir(?:ed|ing)|survey(?:ed|ing)|interview(?:ed|ing)|split(?:ting)? [a-z ]{0,40}into|divid(?:ed|ing) [a-z ]{0,40}into|partition(?:ed|ing)? [a-z ]{0,40}into)\s+(?:a (?:total|sample) of\s+)?(?:\d[\d,.]*\s*(?:,\s*and|,|and)\s+)*[$~≈]?$", I)
SOME_OF = Cue(r"\b(?:the|these|its|their|our)\s+(?:first|last|next|top|bottom|nearest|closest|leading)\s+[$]?$|\b(?:label|rank|take|use|consider|analy[sz]e|plot|show|choose|pick|sort|keep)(?:s|ed|ing)?\s+the\s+[$]?$", I)
DONE_TO = Cue(
    r"\b(?:is|are|was|were|be|been|being)\s+(?:\w+ly\s+)?(?:\w+\s+)?(?!(?:reduc|increas|improv|decreas|lower|rais|f[oi]und|observ|estimat|measur|determin|calculat|comput|report|detect|identif|attribut|associat|correlat|relat|compar|limit|affect|explain|predict|expect|reproduc|reach|achiev|recover)\w*\s)\w+(?:ed|set|cut|run|held|kept|put|built|spun|fed|grown)\s+(?P<how>to|at|every|with|into|over|on|for|from|under|using|in)\s+(?:an?\s+|the\s+|about\s+|approximately\s+)?[$~≈±]?\s*$",
    I,
)  # fmt: skip
SWEPT = Cue(r"\b(?:from|between|in the range(?: of)?|range of|ranging from)\s+(?:\S+\s*[a-zA-Z°\^\u200b/$]{0,8}\s*(?:to|and|--?|\u2013)\s*)?[$~≈]?$", I)
SWEPT_UNIT = Cue(r"[\s\u2009\u00a0$]*(?:\^?°\u200b?\s?C|K|[kMG]?Hz|bar|rpm|[mk]?V|[kMGT]?eV|[hkMG]?Pa|[mµ]?T|[nµm]M|nm)(?![A-Za-z])")
CHANGES = Cue(r"\b(?:increas|decreas|rais|r[io]s|f[ae]ll|dropp?|chang|improv|reduc|shift|grow|grew|declin|weaken|linear|strengthen|widen|narrow|mov|rang(?:ed|es|ing)|var(?:ied|ies)|span)\w*\b[^.;,]{0,50}$", I)
CAPTION_ASSERTS = Cue(r"\b(?:f[oi]und|yields?|results? in|show(?:s|ed)? that|reach(?:es|ed)|achiev\w+|outperform\w*|increas(?:es|ed)|decreas(?:es|ed)|drops?|falls?|rises?|obtain(?:s|ed)|recover\w*|is|was|has|had|linear trend)\b", I)
GOVERNED = Cue(r"(?<!^)\b(?:with|of|for|using|on|in|every|each|an?|the|(?:we|I)\s+(?!report|found|find|saw|see|got|get)\w+)\s+(?:(?:about|approximately|roughly|around|some|over|all|another|additional|same|further)\s+)*[$~≈]?$", I)
"""What stands before a number that is part of how a thing was done."""
LEFT_OUT = Cue(r"\b(?:excluding|except(?:ing)?(?: for)?|ignoring|omitting|discarding|masking|rejecting|keeping only|restricted to)\s+(?:all\s+|the\s+|those\s+)?[$~≈<>≤≥]*\s*$", I, ("ing ", "ed to"))
ONLY_WITH = Cue(r"\bonly\b[^.;]{0,120}\b(?:at least|at most|no more than|no less than)\s*[$≈]?$|\bonly\s+(?:includ|consider|keep|kept|retain|analy[sz]|us|select|look|tak|accept|count)\w*\b[^.;]{0,60}\b(?:below|above|under|over|within|between|than|least|most|exceeding)\s*[$≈]?$", I, ("only",))
THEREBY = re.compile(r",?\s(?:resulting in|leading to|yielding|giving|corresponding to|which (?:result|lead|correspond|yield|g[ai]v)\w*)\b")
"""What follows from a choice is told behind it."""
MEASURED_NOUN = Cue(r"\b(?:rand index|silhouette|kappa|spearman|pearson|auc|auroc|icc|rmse|mae|agreement)[\s$]*$|\b(?:auc|auroc|tpr|fpr|tnr|sensitivity|specificity|rmse|mae|f1|f-score|run-?time|latency|overhead|throughput|accuracy|precision|recall|speed-?up|correlation|coefficient|p-value|loss|yield|survival|prevalence|incidence)s?(?:\s+\(\w+\))?[\s$]*(?:of|=|is|was|were|\(|:)\s*[$~≈]?$|\b(?:average|mean|median|measured|observed|estimated)\s+(?!of\b|over\b)(?:[a-z-]+\s+){1,2}of\s*[$~≈]?$", I)
"""What nobody sets."""
AFTER_LOSING = Cue(r"\b(?:after|by|upon)\s+(?:excluding|removing|dropping|discarding|losing)\s+(?:the\s+|a further\s+|another\s+)?[$]?$", I)
FOR_A_REASON = Cue(r"[\s\u00a0$]*(?:[\w-]+\s+){1,3}(?:with|without|due|because|that|which|who|whose|for|lost|missing)\b", I)
PEAKS_AT = Cue(r"\b(?:peak\w*|correlat\w+|maxim\w+|minim\w+|strongest|largest|highest|lowest|f[oi]und|occur\w*|appear\w*|emerg\w*|revealed|located|detected)\s+(?:\w+\s+)?at\s+\w+[\s$]*(?:\d+\s*(?:,|and|or|to|--?|\u2013)\s*)*$", I)
ASSIGNED_WORD = re.compile(r"(?<![A-Za-z\\])[a-z][\w\u2010-]{2,}\)?\s*=\s*\$?[-\u2212]?\d")
"""A word, not a symbol, with its value: three of them in a sentence list settings."""
NAMED_ASSIGNMENT = Cue(r"(?:^|[\s(,;])(?!(?:mean|median|sd|min|max|mode|range|total|count|sum|score|average|error|rate|loss|acc\w*|corr\w*|dim|deviation|variance|slope|intercept|interval|coverage|ratio|auc|rmse|mae|kappa|odds|diff\w*|effect|power|range|size)\b)[a-z][a-z_-]+(?<!min)(?<!max)(?<!mean)\s?=\s?[\[({]?$")
SUSPENDED = Cue(r"-[a-z]+\s+(?:thresholds?|cut-?offs?|limits?|windows?|rules?|minimum|maximum)\b|-(?:,|\s+(?:and|or|to)\b)|-[a-z]+\s+(?:cases?|variants?|models?|designs?|configurations?|groups?|settings?|conditions?)\b")
VARIED = Cue(r"\b(?:we|is|are|was|were|and|by)\s+(?:vary|var(?:ied|ying)|sweep|swept|sweeping|modify|modified|modifying|changing|tun(?:e|ed|ing)|grid-?search\w*)\b[^.;]{0,120}$", I, ("var", "swe", "modif", "changing", "tun", "grid"))
SAMPLED_FROM = Cue(r"\b(?:sampled|drawn|uniform\w*|at random|randomly|chosen|selected|picked|consider(?:ed)?|restrict(?:ed)?|constrain(?:ed)?)\b[^.;\d]{0,60}\b(?:interval|range|from|between|in|over|set|values?)\b[^.;\d]{0,12}[\[{]\s*(?:[-\u2212]?\d[\d.]*\s*,\s*)*$", I, ("sampled", "drawn", "uniform", "random", "chosen", "selected", "picked", "consider", "restrict", "constrain"))
HYPHEN_UNIT = Cue(rf"-{UNIT}(?![A-Za-z])[\s\u00a0]+(?=[A-Za-z])")
SET_AFTER = Cue(rf"(?:[\s$]*(?:--?|\u2013|to)[\s$]*\d+(?:\.\d+)?)?[\s\u2009\u00a0$-]*(?:{UNIT}|[kKMG]?bp|[kM]b)(?![A-Za-z])[\s\u00a0-]+(?:grid|loc(?:us|i)|flanks?|flanking|windows?|intervals?|bins?|cadence|steps?|horizons?|time-?outs?|blocks?|epochs?|period|delay|pulses?|buffer|cell size|mesh|resolution|sampling|exposures?|filter|cut-?off|onwards?)\b")
"""A measure before a noun that somebody sets, whatever the sentence tells."""
EFFECT_LABEL = Cue(r"[\s$]*\((?:very )?(?:small|medium|large|weak|strong|moderate|negligible|trivial|low|high)\)", I)
CAN_BE = Cue(r"\b(?:can|may)\s+(?:only\s+)?(?:be|take)\s+(?:set to\s+|one of\s+|either\s+|the values?\s+)?[$\\{\[(]*\s*$|\btak(?:es?|ing)\s+(?:the\s+|on\s+)?values?(?:\s+(?:in|of|from))?\s*[$\\{\[(]*\s*$", I, ("can", "may", "value"))
LISTED_SIZES = Cue(r"\b(?:widths?|depths?|sizes?|dimensions?|layers?|units|channels|lengths?|kernels?)\s*(?:of|=|:|is|are|was|were)?\s*\$?[\[({]$", I)
SPLIT = Cue(r"\b(?:train\w*|valid\w*|test|held-?out|calibration|development)(?: set| split)?[\s$=]*\d[\d.]*\s*%?[\s(]*$", I)
"""One of the parts into which data were split."""
FOR_SPLIT = Cue(r"\W*\)\s*(?:for|to|in|as)\s+(?:the\s+)?(?:train|valid|test|calibrat|develop)", I)
POINTS = Cue(r"(?:[\s$]*(?:--?|\u2013|to)[\s$]*\d+(?:\.\d+)?)?[\s\u00a0-]*percentage[\s-]points?\b", I)
NOUN_OF_BOUND = Cue(r"[\s\u00a0$-]*(?:%\s*)?(?:rules?|thresholds?|cut-?offs?|criteri(?:on|a)|limits?|tolerances?|margins?)\b(?!\s+(?:was|were|is|are)\s+(?:found|reached|observed))", I)
HYPHEN_NOUN = Cue(r"-(?!(?:fold|times|percent|point|year-old|sigma)\b)[a-z]{3,}[\s\u00a0]+[A-Za-z]")
SELECTED_BY = Cue(r"(?<!we )\b(?:selects?|selected|suggests?|prefers?|favou?rs?|peak\w* at|maximi[sz]ed at|minimi[sz]ed at|optimal|best|found|identified|emerged)\s+(?:at\s+|with\s+|a\s+|the\s+)?[\s$(]*\w(?:_\S{1,12})?\u200b?\s*=\s*$", I)
"""A number of things that a criterion picked."""
LOST_BEFORE = Cue(r"\b(?:we|authors|were|was|and|then|further|additionally|also)\s+(?:then\s+|also\s+|further\s+)?(?:excluded|removed|dropped|discarded|lost|rejected|disqualified)\b(?![^.;]{0,60}\b(?:first|last|next|if|than|when)\b)[^.;]{0,70}$", I, ("excluded", "removed", "dropped", "discarded", "lost", "rejected", "disqualified"))
CASES = Cue(r"[\s\u00a0$]+(?:\w+ly\s+)?(?:[\w-]+\s+)?(?:participants?|patients?|subjects?|respondents?|people|persons|individuals|children|adults|infants|students|pupils|women|men|volunteers?|workers?|users?|households?|families|schools|teachers|animals|mice|rats|birds|dogs|cases|records|responses|observations|studies|articles|papers|abstracts|interviews|submissions)\b", I)
LOST_HERE = Cue(r"[\s\u00a0$]+(?:[\w-]+\s+){1,3}(?:(?:was|were)\s+)?(?:excluded|removed|dropped|discarded|lost|missing)\s+(?:due|because|owing|for|as|after)\b", I)
NAMES_ASIDE = re.compile(r",?\s*(?:which|that|whom)\s+we\s+(?:label|call|term|name|denote)\w*[^,]*,")
AVERAGE_OF = Cue(r"\b(?:median|mean|average)\s+of\s*[$]?$", I)
HERE_SET = Cue(r"\(\s*(?:here|in our case|in this case|in this study),?\s[^()]{0,30}=\s*\$?$", I, ("here", "in our case", "in this"))
EITHER = Cue(r"\b(?:being|is|are|was|were|takes?|equals?)\s+either\s+[$]?$|\beither\s+\$?[01]\b[^.;]{0,60}\bor\s+[$]?$", I, ("either",))
GROUP_OF = Cue(r"\b(?:on|from|using|in|across|over|with|for|evaluat\w+|analy[sz]\w+|stud(?:y|ied)|test(?:ed)?|to)\s+(?:an?|the|our|this)\s+(?:[\w-]+\s+){0,2}(?:group|set|panel|collection|cohort|sample|pool|series|library|corpus|simulation)\s+of\s+(?:\d[\d,.]*\s+[\w-]+\s+and\s+)?[$]?$|^\W*(?:starting|beginning)\s+(?:with|from)\s+[$]?$", I, (" of", "starting", "beginning"))
RECRUITED = Cue(r"[\s\u00a0$]+(?:(?:[\w-]+\s+){0,2}(?:participants|patients|subjects|respondents|people|individuals|children|adults|students|volunteers|workers|users|households)\s+(?:were|was)\s+(?:\w+ly\s+)?(?:recruited|enrol\w+|invited|randomi[sz]ed|hired)\b|(?:(?:of whom|were)\s+)?(?:randomly\s+)?(?:assigned|allocated|randomi[sz]ed)\s+to\b)", I)
PER_CELL = Cue(r"[\s\u00a0$]+(?:[\w-]+\s+)?[a-z]+s\s+per\s+(?:role|treatment|condition|group|arm|cell|class|block|session|batch|level|category)\b", I)
ALL_OF = Cue(r"(?:^|\W)(?<!contains )(?<!contain )(?<!includes )(?<!include )all\s+(?:the\s+|our\s+|these\s+)?[$]?$|\b(?:full|whole|entire|complete)\s+set\s+of\s+[$]?$", I, ("all", "set of"))
SPREAD_TOLD = Cue(r"[^.;(]{0,40}\((?:SD|s\.d\.|range|IQR|±)\b", I)
MEAN_OF_MANY = Cue(r"\b(?:(?:the|are|is|as)\s+(?:mean|average|median|sum)|averag(?:e|ed|ing))\s+of\s+(?:the\s+)?[$]?$", I, (" of",))
MANY = Cue(r"[\s\u00a0$]+(?!(?:hours|minutes|seconds|days|weeks|months|years|points|steps|times|percent|units|lines|words|visits|errors|items)\b)(?:[\w-]+\s+){0,3}(?:\$[^$]{1,12}\$\s+)?[A-Za-z]+s\b", I)
"""Over how many things a mean was taken, not a mean that was found: `the average of 10 networks`."""
SPLIT_ITEMS = Cue(r"[\s\u00a0$]+(?:[\w-]+\s+)?(?:training|validation|test|testing|held-out|calibration)\s+(?:data|examples?|samples?|points|images|pairs|instances|sequences|sets?|cases|items|subjects|records|observations|documents)\b", I)
SPLIT_LEAD = Cue(r"(?:split|splits|into):\s*$|\b(?:with|using|on|the|has|have|for|of|contains?|an?|each|from|and)\s+(?:\d[\d,.]*\s*(?:,|and|or|to)\s*)*(?:and\s+|or\s+)?[$]?$", I)
MEETS = Cue(r"\b(?:met|meets?|meeting|satisf\w+|pass(?:es|ed|ing)?|surviv(?:es|ed|ing))\b[^.;]{0,70}$", I, ("met", "meet", "satisf", "pass", "surviv"))
DATA_ON = Cue(r"\b(?:received|obtained|uses?|used|using|had|gathered|acquired)\s+(?:data|records|responses|information|scans|questionnaires)\s+(?:on|for|about|from)\s+(?:a total of\s+)?[$]?$", I, ("data", "records", "responses", "information", "scans", "questionnaires"))
SOURCES = Cue(r"[\s\u00a0$]+(?:[\w-]+\s+){0,2}(?:studies|papers|articles|publications|reports|sites|countries|cities|hospitals|cent(?:er|re)s|clinics|schools|universities|laborator(?:y|ies)|repositories|projects|sources|stations|institutions|companies|firms|farms|villages|regions|states|provinces|laboratories|websites|journals)\b", I)
FROM = Cue(r"\b(?:from|across|at|in)\s+(?:the\s+)?[$]?$", I)
IN_ARM = Cue(r"[\s\u00a0$]+(?:[a-z-]+\s+)?(?:in|to)\s+(?:the\s+|an?\s+)?(?:[a-z-]+\s+)?(?:treatment|intervention|control|placebo|experimental|comparison|exposed|training|active|sham)\s+(?:group|arm|condition|cohort)s?\b", I)
EXPECTED = Cue(r"\b(?:we|is|are|was|were)\s+(?:expect|aim|hop|plan|intend|target)(?:s|ed|ned)?\s+(?:to\s+\w+|for)\s+(?:(?!\b(?:but|found|saw|observ\w+|actual\w*|instead|while|whereas)\b)[^.;]){0,60}$", I, ("expect", "aim", "hop", "plan", "intend", "target"))
COLLATED = Cue(r"(?:^\W*|\bwe\s+)(?:compiled|collected|curated|assembled|gathered|collated|analy[sz]ed|annotated|downloaded|sampled|surveyed)\s+(?:a total of\s+)?[$]?$", I, ("compiled", "collected", "curated", "assembled", "gathered", "collated", "analy", "annotated", "downloaded", "sampled", "surveyed"))
DEEPENED = Cue(r"\bwe\s+(?:then\s+|also\s+|now\s+)?(?:increase|decrease|raise|lower|extend|change|reduce)d?\s+(?:the|its|their)\s+(?:[\w-]+\s+){0,2}(?:depth|thickness|width|size|length|temperature|concentration|dose|pressure|voltage|resolution|spacing|radius|duration|height)s?\b[^.;]{0,60}\b(?:from|to|by)\s+(?:\d[\d.]*\s*(?:to|--?|\u2013)\s*)?[$]?$", I, ("we ",))
RESULTS_OF = Cue(r"^\W*(?:[\w-]+\s+){0,2}(?:results?|examples?|comparison|illustration|snapshots?|maps?|distributions?|trajector(?:y|ies)|realizations?|samples?)\s+(?:of|for|from|with)\s+(?:the\s+)?[$]?$", I)
HAPPENED = Cue(r"[\s\u00a0$]+(?:[\w-]+\s+)?(?:events|deaths|relapses|recurrences|failures|crashes|infections|errors|detections|complications|withdrawals|responders|missing (?:values|data|entries|answers))\b", I)
"""What nobody chooses how often."""
COUNTS_THINGS = Cue(r"[\s\u00a0$]+(?:missing|\w+ly\b|[a-z]+ed\b)", I)
IDENTIFIED = Cue(r"\b[a-z]{2,}[A-Z][A-Za-z]+\s*[=:]?\s*$")
"""An option of a program before its value."""
