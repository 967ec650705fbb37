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

    def __init__(self, pattern: str, flags: int = 0, needs: tuple[str, ...] = ()):
        self._pattern, self._folded, self._needs = pattern, bool(flags & I), needs

    def __getattr__(self, name: str) -> Any:
        """`search`, `match` and `strip` (the text without what matches): made when the first of them is asked for."""
        if name not in ("search", "match", "strip"):
            raise AttributeError(name)
        pattern = CAPITAL_LETTER.sub(lambda letter: letter.group().lower(), self._pattern) if self._folded else self._pattern
        compiled = re.compile(r"(?<!\w)" + pattern[2:] if pattern.startswith(r"\b(") else pattern)
        asked = compiled.search, compiled.match, partial(compiled.sub, "")
        self.search, self.match, self.strip = (partial(_fold, ask) for ask in asked) if self._folded else asked
        if self._needs:
            self.search = partial(_fold_needed, compiled.search, self._needs)
        return self.__dict__[name]


def _fold_needed(ask: Any, needs: tuple[str, ...], text: str) -> Any:
    """The answer where the text holds one of the words without which nothing matches."""
    text = text.lower()
    return ask(text) if any(word in text for word in needs) else None


def _fold(ask: Any, text: str) -> Any:
    return ask(text.lower())


METHOD_TITLE = Cue(
    r"\b(?:methods?|methodology|materials?|experimental (?:set-?up|details?|procedures?|design|protocol)|set-?up|implementation|participants|procedures?|protocol|(?:simulation|computational|training|numerical|technical) details|"
    r"hyper-?parameters?|apparatus|stimuli|sample preparation|statistical analys[ei]s|study design|instruments?|reagents|observations and data reduction|sampling)\b|^experimental$|^computational$",
    I,
)  # fmt: skip
LIST_TITLE = Cue(r"^\W*(?:references|bibliography|(?:literature|works|references) cited|reference list)\W*$", I)
RESULT_TITLE = Cue(r"\b(?:results?|findings|evaluation|outcomes|conclusions?)\b|^\W*(?:\w+\s)?experiments\b", I)
FOUND_TITLE = Cue(r"\b(?:results?|findings|outcomes)\b", I)
BACKGROUND_TITLE = Cue(r"\b(?:introduction|related work|background|previous work|prior work|literature(?! (?:search|selection|screening|retrieval|identification))|state of the art|motivation|theory)\b", I)
LENGTH = Cue(
    r"\s*\\(?:text|line|column|paper|page|h|v)?(?:width|height|size|sep)(?![a-z])|\s*\\(?:baselineskip|parindent|parskip|unitlength|tabcolsep)"
)
COMMAND = Cue(r"\\[A-Za-z@]+\s*=?\s*-?$")
TEX_UNIT = Cue(r"\s*(?:true)?(?:pt|pc|in|bp|cm|mm|dd|cc|sp|ex|em)(?![A-Za-z])")
PRIMITIVE = Cue(
    r"\\(?:(?:cat|lc|uc|sf|math|del)code\S*?|numexpr|dimexpr|ifnum|ifdim|ifcase|number|romannumeral|setbox|advance\S*(?:\s+by)?|penalty|looseness|tolerance|pretolerance|emergencystretch|parindent|parskip|baselineskip|abovecaptionskip|belowcaptionskip|textfloatsep|"
    r"[a-z]*penalty|[a-z]*demerits|itemsep|parsep|topsep|hsize|vsize|arraycolsep|tabcolsep|columnsep|pdf[a-z]+|relpenalty|count\d*|hfuzz|hbadness)\s*=?\s*-?$"
    r"|\\(?:put|multiput|line|vector|circle|oval)\s*\([^()]*$|\\(?:draw|fill|filldraw|path|coordinate)\b[^;]*$|\\[hv]rule\b[^,.]{0,24}(?:height|width|depth)\s*$"
)
UNIT = r"(?:\^?°\u200b?\s?[CF]?(?![A-Za-z])|K|Hz|kHz|MHz|GHz|ms|µs|μs|ns|s|sec(?:onds?)?|min(?:utes?)?|h|hours?|days?|nights?|weeks?|months?|years?|[munkMμµ]?[gmlLWVAJN]|[munμµ]M|(?<=\s)M|mg|kg|µm|μm|nm|cm|mm|km|ml|mL|GB|MB|TB|GiB|[kK]B|[GMk]bps|[GM]B/s|bytes?|bits?|nats?|dB|eV|keV|MeV|GeV|TeV|Å|arcsec|arcmin|kpc|Mpc|pc|Gyr|Myr|yr|AU|Pa|kPa|[mnμk]?mol|rpm|hPa|MPa|m?bar|Torr|px|pixels|KiB|MiB|ppm|Gy|mag|[mnμk]T|k[AN]|[kMG]J|kOe|sccm|atm|fs|ps|(?:kilo|centi|milli|micro|nano)?met(?:er|re)s?|feet|inch(?:es)?|miles?|(?:kilo|milli)?grams?|(?:milli)?lit(?:er|re)s?|volts?|watts?|hectares?|tonn?es?|tons)"
PHYSICAL = Cue(rf"[\s-]*{UNIT}(?![A-Za-z])")

CERTAIN_INDEX = Cue(
    rf"(?:{REF}|\b(?:[es]?fig(?:ure)?s?|[es]?tab(?:le)?s?|video|movie|sec(?:tion)?s?|sects?|eqs?|eqns?|equations?|chapters?|chap|appendix|appendices|app|theorems?|thm|lemmas?|"
    r"propositions?|prop|corollar(?:y|ies)|definitions?|remarks?|algorithms?|alg|listings?|(?<!m\.)pp?|pages?|vol(?:ume)?|no|nos|issues?|refs?|hypothes[ie]s|supp(?:lementary)?|"
    r"footnotes?|fn|(?:mss?|lat|fr|cod|fols?|inv|suppl|dig)(?=\.)|articles?|arts?|clauses?|paragraphs?|directives?|regulations?|step|steps|rq|questions?|assumptions?|conditions?|claims?)\.?)[\s\u00a0]*[(\[]?#?(?:[A-Z]?\d+(?:\.\d+)*[a-z]?\s*(?:,|\u2013|--?|and|to|&|or|,\s*and)\s*)*(?:[A-Z]\.?)?$",
    I,
)  # fmt: skip
INDEX = Cue(
    r"\b(?:lines?|items?|panels?|columns?|rows?|stud(?:y|ies)|experiments?|exps?\.?|predictions?|aims?|objectives?|parts?|phases?|stages?|days?|weeks?|visits?|levels?|types?|class|"
    r"classes|grades?|cases?|scenarios?|settings?|models?|groups?|arms?|cohorts?|clusters?|blocks?|layers?|heads?|tasks?|batch|rounds?|fold|runs?|seeds?|jobs?|sites?|stations?|"
    r"samples?|specimens?|subjects?|participants?|patients?|reviewers?|tiers?|epochs?|steps?|iterations?|generations?|months?|years?|chromosomes?|exons?|versions?|waves?|quarters?|trials?|"
    r"sessions?|datasets?|variants?|method|property|order|degree|rank|position|index|node|channel|machine|worker|point|target|criteri(?:on|a))[\s\u00a0]*(?:number\s*)?(?:\d+\s*(?:,\s*and|,|\u2013|--?|and|to|&|or)\s*)*$",
    I,
)  # fmt: skip
IN_PARENTHESES = Cue(r"\b(?:columns?|cols?\.?|panels?|rows?|models?|specifications?|equations?|eqs?\.?)\s*\((?:\d+[a-z]?\)\s*(?:,|--?|\u2013|and|to|through|,\s*and)\s*\()*$", I)
NOUN_NUMBERED = Cue(r"(?:^|\W)(?:the|in|on|at|for|from|between|this|each|namely|example)\s+(?!(?:other|first|last|next|top|remaining|about|over|under|only|around|nearly|almost|than|least|most|between|from|total|mean|median|average|roughly|approximately|some|these|those|their|final|same|just|another|additional|until|with|exactly|above|below|within|further|entire|whole|range|score|value)\b)[a-z]{4,}[\s\u00a0](?:\d{1,2}\s*(?:,|-|--|\u2013|and|to)\s*)?$")
NUMBERED_ON = Cue(r"(?:[,;:)]|\s+(?:and|to|or)\s+\d{1,2}(?:[,;:)]|\.(?!\d)|$)|\.(?!\d)|\s*[-\u2013]\s*\d{1,2}\b(?!\s*(?:%|\\%|per))|\s+(?:which|that|is|was|has|shows?|exhibits?|in|of|for|with|where|because|but)\b)")
"""A noun in the singular or plural with its number behind it, and how the sentence goes on: `the partition 6, which`."""
VERBISH = Cue(r"\b(?:run|step|batch|fold|head|sample|model|case|point|order|round|rank|trial|group|block|line|page|stage)\s*$", I)
PLURAL = Cue(
    r"[\s\u00a0]+(?:[a-z-]+\s+)?(?!is\b|was\b|has\b|shows\b|versus\b|does\b|this\b|gives\b|uses\b|its\b|lists\b|contains\b|requires\b|(?:adds|includes|reports|presents|extends|replaces|repeats|tests|drops|controls|compares|describes|summari[sz]es|yields|assumes|follows|starts|ends|considers|asks|examines|explores|shares|builds|applies)\b)[a-z-]+(?:s|en)\b"
)
SOFTWARE = Cue(
    r"\b(?:python|lean|pytorch|torch|tensorflow|jax|numpy|scipy|pandas|cuda|cudnn|julia|matlab|stata|spss|sas|java|gcc|ubuntu|debian|centos|windows|macos|linux|android|ios|"
    r"version|versions|(?<!we )(?<!to )release|ver\.?|v\.?|gpt|llama|bert|claude|gemini|mistral|qwen|lme4|ggplot|prism|graphpad|imagej|fiji|matplotlib|scikit-learn|sklearn|keras|transformers|"
    r"dvc|git|latex|python3|node(?:\.js)?|rstudio|r|opencv|blender|unity|excel|nvivo|g\*power|jasp|jamovi|psychopy|eprime|e-prime|covid|mnist|cifar|imagenet|wikitext|h|rtx|gtx|geforce|tesla|core|xeon|ryzen|iphone|"
    r"iso|ieee|rfc|din|en|astm|ansi|cc[ -]by(?:-[a-z]+)*|gpl(?:v)?|build|revision|apache|level-|usb|wi-?fi|bluetooth|http|web|industry)[\s\u00a0]*(?:version\s*|v\.?\s*|release\s*)?(?:\d+(?:\.\d+)*-)?$",
    I,
)  # fmt: skip
NAME_HYPHEN = Cue(
    r"(?:[A-Za-z]*[A-Z][A-Za-z0-9]*|\b[a-z]\d+|\([a-z](?=-)|\b(?!(?:about|approximately|circa|roughly|around|under|over|near|post|non|pre|mid|sub|than|top|minus|plus)[-\u2013])[a-z]{3,}(?=-)|\b(?:top|pass|hits?|rank|type|grade|stage|phase|level|layer|n|k|p|il|t|pm|depth|width|order|size|covid|sars-cov|fig|block|day|week|step|seed|omega|class|category))[-\u2013]$"
)
MODEL = Cue(r"\b[A-Z][A-Za-z]*[\d.]*[-\s\u00a0]\(?(?:\d+(?:\.\d+)?[\s-])?$")
PRODUCT_NAME = Cue(r"\b(?!CrI\b)[A-Z](?=[A-Za-z]*[a-z])[A-Za-z]+[A-Z][A-Za-z]*[\s\u00a0]$|\b[A-Z]{2,}(?!s\b)[a-z]+[\s\u00a0]$|\b[A-Z]{3,}\d+[\s\u00a0]$")
CAPITAL = Cue(r"(?:^|[.;:!?]\s*|\s)(?!(?:Only|About|Around|Nearly|Over|Almost|At|In|On|By|Of|For|From|To|The|All|And|But|Some|Just|With|Within|Between|Under|Above|Below|After|Until|Up|Roughly|Approximately|Exactly|These|Those|Our|Their|Its|Another|Mean|Median|Score|Accuracy|Total|Ours|Baseline)\b)[A-Z][a-z]+[\s\u00a0]$")
PROPER = Cue(r"(?:[a-z,;]|\()[\s\u00a0]+(?:[A-Z][a-z]+)[\s\u00a0]$")
IDENTIFIER = Cue(
    r"(?<![A-Za-z\\])(?:doi|arxiv|isbn|issn|pmid|orcid|grants?(?: agreements?)?|licen[cs]e|id|nct|protocol|approval|award|contract|accession|catalogue|catalog|cat\.|lot|patent|zip|postal|commit|registration|identifier|project)"
    r"(?:[\s\u00a0:.#(]|nos?\b|numbers?\b|codes?\b|ids?\b)*[A-Za-z]{0,6}[-/]?(?:[A-Z0-9][A-Za-z0-9]*[-/.])*$|(?:https?:|www\.)\S*$|(?<![a-z])(?:phone|tel|fax|mobile)\b[^;a-z]{0,24}$|\b[A-Z]{3,}-(?:\d{2,4}-)+$|\b10\.\d{4,9}/\S*$|(?:[A-Za-z]\S*/|[@_])[^\s=(]*$|\S+://\S*$",
    I,
)  # fmt: skip

MONTHS = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|spring|summer|autumn|winter)"
MONTH_BEFORE = Cue(rf"\b{MONTHS}\.?[\s\u00a0]*(?:\d{{1,2}}(?:st|nd|rd|th)?\s*(?:,|\u2013|--?|and|to)\s*)?$", I)
CLOCK = Cue(r"[\s\u00a0\u2009]*(?:UTC|GMT|UT(?=[\s,.;)])|[ap]\.?m\.?(?![A-Za-z])|o'clock)")
UTC_OFFSET = Cue(r"\b(?:UTC|GMT)[\s\u00a0]*[+\u2212-]?$")
MONTH_AFTER = Cue(rf"(?:st|nd|rd|th)?(?:\s*(?:\u2013|--?|and|to)\s*\d+(?:st|nd|rd|th)?)?[\s\u00a0]+(?:of\s+)?{MONTHS}\b", I)
YEAR_BEFORE = Cue(
    rf"(?:^|\b(?i:in|since|until|till|from|by|during|before|after|between|early|late|mid|year|years|through|to|and|around|circa|of|at|with|than|versus|than in|workshop|conference|proc(?:eedings)?|edition|"
    rf"{MONTHS})|\b[A-Z]{{3,}}|,|\(|al\.?,?|;|[\u2013-]|{CITE}|©|'|\d{{4}}\s?/)[\s\u00a0]*$"
)
YEAR_AFTER = Cue(
    r"[\s\u00a0]*(?:$|[(.),;:\]\u2013-]|(?:and|to|by|we|the|was|were|through|when|had|in|for|with|it|they|as|at|by|until|till|growing|season|seasons)\b|[A-Z\ue000-\ue00f])"
)

STATISTIC = Cue(
    r"(?:^|[\s,;(\ue007])(?P<symbol>p|P|r|R|F|t|T(?=\s*\(\d)|z|Z|d|g|U|W|M|R\s*\^\s*2|r\s*\^\s*2|r_\w+|r_\ue007s\ue007|p_\S+|\\chi\s*\^\s*2|\\rho|\\beta(?!_\ue007?\d)|\\kappa|\\eta(?:_p)?\s*\^\s*2|\\eta_p\S*|\\omega\s*\^\s*2|"
    r"\\hat\S*|\\bar\S*|OR|HR|RR|CI|SD|SE|SEM|AUC|BF\S*|I\s*\^\s*2|\\Delta\s*\S{0,12}|\\epsilon\s*\^\s*2|MSE|RMSE|MAE|ICC)[\s\u200b]*(?:\([^)]*\)|_\ue007?[^=<>]{1,14}|/[^=<>]{1,16})?[\s\u200b]*(?P<relation>[=<>≈≤≥≪≫]|\\equiv)[\s\u2009]*[-\u2212+]?$"
)
STATISTIC_TEXT = Cue(
    r"(?:^|[\s,;(])(?:[pPrtFdzZgUWb]|SD|SE|SEM|M|Mdn|CI|AUC|R2|F1|OR|HR|RR|ICC|IQR|BF10|\\chi\^2)\s*(?:\([^)]*\))?\s*[=<>≈≤≥:]\s*[-\u2212]?$"
)
OF_TEST = Cue(r"\b[pP](?:-values?)?\b|\btests?\b|\bsignifican\w+")
RELATION = Cue(r"(?:[=<>≈≤≥∈→≠]|\\propto|\\leftarrow|\\gets|\\coloneqq|:=|\\colon)[\s\u2009]*[-\u2212+]?$")
STATISTIC_NAME = Cue(r"\b(?:(?:odds|hazards?|risk|rate|incidence) ratio|relative risk|kappa|cronbach's (?:\\?alpha|α)|auc|auroc|f1(?:[ -]score)?|accuracy|icc)[\s$]*(?:\((?:or|hr|rr|aor|ahr)\))?[\s,:]*(?:of|=|was|is)?[\s$]*$", I)
MEAN_TOLD = Cue(r"\bon average\b", I, ("on average",))
INTERVAL_OF = Cue(r"\b(?:(?:confidence|credible|prediction|forecast) intervals?|\bCr?I)\s*(?:of|was|is|from|between|:|,)?[\s$\[(]*$", I, ("interval", "ci", "cri"))
SOME_OF_THEM = Cue(r"\b(?:few|many|most|majority|half|third|quarter|all|some) of (?:the|them|our|these|those)\b[^.;]*\((?:at |about |around )?[\s$~≈]*$", I, (" of th", " of our"))
"""How many of some things, and behind it their share."""
ON_AVERAGE = Cue(rf"[\s\u2009\u00a0$]*(?:%|{UNIT}|[a-z-]+)?[\s\u00a0$]*,?\s*on average\b", I)
SAMPLE = Cue(r"(?:^|[^A-Za-z\\])(?P<symbol>\\?[nNkKmTLBSJ])(?:_\S{1,12})?\u200b?\s*[=≥≤<>]\s*$")
CONDITION = Cue(r"\b(?:at|with|for|under|using)\s+(?:a|an|the)\s+(?!total|sum|area under|curve|combined|mean|average|maximum|median|typical|throughput|latency|execution|accuracy|precision|recall|perplexity|significance|probability|success|yield|gain|speed-?up|error|score|overhead|correlation|value|(?:theoretical|experimental|reported|measured|observed)\b)(?:[A-Za-z-]+\s+){1,4}of\s*$", I)
CATALOGUED = Cue(r"\b(?!(?:IQR|SD|SE|SEM|CI|RMSE|MAE|MSE|MAPE|AUC|AUROC|OR|HR|RR|PSNR|BLEU|FID|BIC|AIC)\b)[A-Z]{2,}(?<!USD)(?<!EUR)(?<!GBP)(?<!CHF)(?<!JPY)(?<!CNY)(?<!RMB)(?<!INR)(?<!BDT)(?<!AUD)(?<!CAD)(?<!SEK)(?<!NOK)(?<!DKK)(?<!BRL)(?<!ZAR)(?<!KES)(?<!TZS)(?<!UGX)(?<!NGN)(?<!PKR)(?<!RUB)(?<!KRW)(?<!MXN)(?<!PLN)(?<!TRY)(?<!HUF)(?<!CZK)(?<!ILS)(?<!IDR)(?<!PHP)(?<!VND)(?<!THB)(?<!SGD)(?<!HKD)(?<!NZD)[\s\u00a0-]$")
ADDRESS = Cue(r"\b(?:Department of|University of|\w+ University|Institut\w* (?:of|for)|Laborator\w+|Observatory|School of|Faculty of|Cent(?:er|re) for)\b")
YEAR_PLACE = Cue(r"\b(?:in|since|until|by|during|circa|AD|CE)[\s\u00a0]$")
EARLY_YEAR = Cue(r"\b(?:in|since|until|circa|ca\.|AD|dated?|from|around|anno)[\s\u00a0]$|\b1[5-8]\d\d[\s\u00a0]*(?:to|and|--?|\u2013)[\s\u00a0]*$")
YEAR_PAIR = Cue(r"\b(?:[Tt]he|[Ii]n|[Bb]etween|[Bb]oth|of|from)\s(?:19|20)\d\d\s(?:and|or|to)\s$")
YEAR_RANGE = Cue(r"\b(?:1[89]|20)\d\d\s*(?:--?|\u2013|/)\s*$")
DESIGN_VERB = Cue(
    r"\b(?:we (?:\w+ly |also |then )?(?:simulate|repeat|generate|perform|select|keep|kept|consider|apply|collect|sample|vary|survey|interview|analy[sz]e|stud(?:y|ie)|examine|inspect|annotate|crawl|quer(?:y|ie)|download|split|scale|limit|label|normali[sz]e|extract)(?:e?d)?|us(?:e[ds]?|ing)|set(?:ting)? (?:to|at|the)|(?:is|was|are|were|we|be) set|fix(?:ed|ing)?|train(?:ed|s)?|we train|sampled|sampling|drawn?|drew|choos(?:e|ing)|chosen?|assum(?:e[ds]?|ing)|mask(?:ed)?|(?<!-)repeated|initiali[sz]ed?|consist(?:s|ed|ing)?|"
    r"compris(?:es?|ed|ing)|recruited|enrol(?:l?ed)?|collected|randomi[sz]ed|randomly|allocated|assigned|evacuated|tuned to|excited at|pumped at|sonicated|transfected|seeded|cultured|reared|scanned|incubated|annealed|deposited|dried|calcined|irradiated|stirred|sintered|mounted|digested|heated|cooled|centrifuged|stored|lowered linearly|ramped|"
    r"warmed up|(?:we|was|were|is|are) var(?:y|ied)|varying the|(?:we|and|to|then) sweep|sweep of|swept|administered|escalated|titrated|injected|housed|fed|dosed|treated with|diluted|washed|invited|interviewed|screened|(?:was|were|is|are|be) run|we run|ran(?! from| at| to)|evaluated (?:on|with|over)|"
    r"optimi[sz]ed|implemented|resampl(?:ed|ing)|discard(?:ed)?|exclud(?:e[ds]?|ing)|built|defaults?|requires?|"
    r"subsampled?|acquired|prune(?:d)?|fine-?tuned?|pre-?trained|prompt(?:ed)?|decoded?|quanti[sz]ed|chose|(?:was|were) added|performed with|appl(?:y|ied)|presented (?:for|at)|shown (?:for|at|on)|waited|averag(?:ed|ing) over|for which|registered|designed|planned|employed|received|took part|participated|volunteered|"
    r"completed|annotated|(?<!un)labell?ed|surveyed|parcellated|binned|discreti[sz]ed|segmented into|grouped into|interpolated|smoothed|filtered|downsampled|rescaled|covers?|covering|capped|truncated|padded|resized|cropped|divided|partitioned|held out|reserved?|paid|compensated|followed for|priors? (?:were|was|are|is|with)|medians? over|means? over|averages? over|power to detect)\b[^.;:\ue004]{0,60}$",
    I,
)  # fmt: skip
COUNTED = Cue(
    r"[\s\u00a0-]*(?:(?!(?:in|at|of|for|on|with|to|from|and|or|per|by|after|before|than|over|under|as|while|when|against)\b)[A-Za-z0-9-]+\s+){0,2}(?:layers?|blocks?|heads?|epochs?|steps?|iterations?|seeds?|runs?|folds?|participants|patients|subjects|volunteers|students|respondents|items|trials|tokens|gpus?|cpus?|cores?|threads?|nodes|"
    r"parameters|features|classes|inhabitants|repeats(?= of)|categories|units|neurons|channels|repetitions|replicat(?:es|ions)|permutations|bootstrap|resamples|samples|examples|images|documents|sentences|words|questions|tasks|datasets?|models?|networks?|"
    r"agents|episodes|dimensions?|bins|points|levels|groups|arms|conditions|sites|centres|centers|hospitals|schools|plots|mice|rats|cells|animals|species|blocks|sessions|batches|sequences|pixels|filters|chains|draws|"
    r"experiments|studies|laps|cycles|machines|workers|characters|pages|wells|tubes|plates|grid|particles|atoms|sensors|cameras|items|raters|annotators|judges|configurations|set-?ups|resolutions|algorithms|combinations|researchers|coders|experts|observers|reviewers|interviewers|stimuli|variables|predictors|covariates|options|values|firms|households|respondents|scans|frames|sweeps|pulses|shots|exposures|copies|passes|entries|topics|pairs|gauges|cameras|electrodes|subscales)\b(?!\s+per\b|-hours?)",
    I,
)  # fmt: skip
LAYOUT_NAME = Cue(
    r"\\(?:arraystretch|baselinestretch|[A-Za-z@]*(?:sep|width|height|skip|size|fraction|number|depth|stretch|margin|penalty|limit))\s*\}?\s*(?:\[\d\])?\s*$"
)
HYPHENATED = Cue(
    r"-(?:bit|layer|layered|way|point|dimensional|shot|step|block|head|headed|hidden|year|week|day|month|hour|minute|second|item|core|class|token|character|gram|parameter|D\b|d\b|sided|tailed|nearest|stage|level|factor|pixel|channel|node|th)"
)
CLAIM = Cue(
    r"\b(?:f[oi]und|finds?|(?:we|i) (?:\w+ly )?(?:measure|derive|infer|determine|report|see|count|note|detect|judged)\b|(?:was|were) (?:seen|noted|evident)\b|(?<!was )(?<!were )recorded|counted|occurr?ed|occurs?|experienc\w+|scored|peaks? (?:at|in|near|around)|settles?|stays?|stayed|converts?|degrad\w+|emerg\w+|contributes?|constitut\w+|had died|relaps\w+|(?:ran|runs?|finish\w*|complet\w+|appears?) (?:in|at)|scales to|fires?|observ(?!ations?\b|ers?\b|ator)\w+|measur(?!ements?\b|es?\b)\w+|reach\w*|achiev\w+|obtain\w*(?! (?:using|with|by|on)\b)|yield\w*|increas\w+|decreas\w+|reduc\w+|improv\w+|drop(?!-?outs?\b)\w*|f[ae]ll\w*|rose|ris\w+|gain\w*|outperform\w*|recover\w*|collapsed?|accura\w+|error|medians? (?!over)|means? (?!over)|"
    r"average (?!over)|scores?|correlat\w+|differs?|differed|differences?|versus|vs|higher|lower|faster|slower|better|worse|longer|shorter|lasted|surviv\w+|responded|shows?|showed|took(?! part)|takes|needed|needs|costs?|gave|gives|raised?|raises|shr[aiu]nks?|slowest|fastest|highest|lowest|largest|smallest|strongest|weakest|most(?! recent)|fewer|larger|smaller|more than|less than|withdrew|present in|explain\w*|account\w*|estimat\w*|exceed\w*|remain\w*|went|doubl\w+|result(?:ed|s|ing)? in|grew|"
    r"declin\w+|logged|inferred|impl(?:y|ies|ied)|constrains?|constrained|caused by|left with|leaving|lies|shorten\w*|lengthen\w*|averag(?:es|ed)(?! over)|amount(?:s|ed) to|was calculated|agreement|fad(?:es|ed)|success\w*|fail\w*|succeeded|resulted|significant\w*|evidence|detected|converged|predicted|loses|lost|won|beat|missed|(?<!was )(?<!were )kept|identif\w+|settled|ended|died|agreed|preferred|total of|prevalence|incidence|rate was|peaked|dominat\w+|attain\w*|total(?:l?ed))\b",
    I,
)  # fmt: skip
NO_CLAIM = Cue(
    r"(?<!found )(?<!shown )(?<!able )(?<!known )(?<!enough )(?<!needed )(?<!likely )(?<!required )(?<!expected )\bto (?:\w+ly )?(?:obtain|achieve|reach|improve|increase|decrease|reduce|yield|measure|observe|estimate|gain|identify|explain|account|exceed|recover|lower|raise|detect|show|find|predict|shorten|lengthen|match)\b"
    r"|\b(?:the|an?|each|any|all|every|with|of|and|our|their|its|or|in)\s+(?:observed|measured|estimated|predicted|increased|reduced|recorded|expected|obtained|identified|inferred|improved|remaining|resulting|detected)\s+(?=[a-z])"
    r"|\b(?:standard errors?|error bars?|less than or equal to|time-averaged|(?:lowest|highest|smallest|largest)(?=\s+(?:[a-z]+\s+){1,4}(?:that|which)\b))",
    I,
)  # fmt: skip
"""What only sounds like an outcome: a purpose, a participle before its noun."""
OWN = Cue(r"^\W*(?:this|these) (?:exceeds?|improves?|outperforms?|agrees?|is|are|compares?|corresponds?)\b|\b(?:we|our|ours|us|this (?:work|study|paper|article)|here|the (?:present|resulting|final))\b", I)
COORDINATE = Cue(r"[\s\u2009]*\^?°\u200b?[\s$]*[NSEW]\b")
ADOPTS = Cue(r"\b(?:adopt|assum|fix|set|choos|chose|tak)(?:ed|ing|s|e|en)?\b", I)
"""Words by which a writer sets a symbol."""
SETTING_NOUN = Cue(r"\b(?:thresholds?|cut-?offs?|tolerances?|parameters?|bandwidths?|steps?|step sizes?|rates?|(?<!nearly )(?<!almost )(?<!roughly )(?<!approximately )constants?|tolerance)\s*(?:of\s*)?$", I)
WITH_P = re.compile(r"[^.;]{0,20}[\s($]p\s*[=<>≤]", re.IGNORECASE)
INCREMENT = Cue(r"[\s$]*(?:×|x\b|%|-?fold\b(?!\s+(?:CV\b|cross))|(?:percentage )?points?\b|per ?cent\b)", I)
SIZE = Cue(r"(?:^|[^A-Za-z\\_])(?P<symbol>[nN])\s*=\s*(?:\d+\s*(?:to|or|and|--?|\u2013)\s*)?$")
SIZES = re.compile(r"(?<![A-Za-z\\_])[nN]\s*=\s*\d")
AFTER_BAND = Cue(r"\d(?:\s*(?:--?|\u2013|to)\s*\d+|\+)\s*(?:years?\s*)?[(\[]?\s*$")
BAND_SIZED = Cue(r"(?:[\s$]*(?:--?|\u2013|to)[\s$]*\d+\b|[\s$]*\+)[+\s$]*(?:years?[\s$]*)?\(\s*\$?\s*(?:[nN]\s*=|\d+(?:\.\d+)?\s*%)")
BAND_START = Cue(r"\d[\s$]*(?:--?|\u2013|to)[\s$]*$")
BAND_END = Cue(r"[+\s$]*(?:years?[\s$]*)?\(\s*\$?\s*(?:[nN]\s*=|\d+(?:\.\d+)?\s*%)")
"""A band of ages or scores, and behind it how many fell in it: `25-34 (n = 18)`, `65+ (n = 9)`."""
PERCENT_AHEAD = Cue(r"\d\s*%\)?(?:\s+of)?(?:\s+(?!intervals?\b|confidence\b|credible\b)[a-z-]+){0,3}[\s,;(\[]*$")
PERCENT_BEHIND = Cue(r"\s*(?:[,;=(]|or)\s*\(?\d+(?:\.\d+)?\s*%\s*[),;]")
PORTION = Cue(r"\b(?:most|majority|minority|few|some|many|several|remaining|rest|others?|half|only)\b[^.;,()]{0,60}\(?\s*$", I)
CAME_OUT = Cue(r"\s*(?:(?!were\b|was\b|who\b)[a-z-]+\s+){0,2}(?:completed|responded|returned|finished|withdrew|died|relapsed|remained|dropped out|survived|developed|achieved|showed|failed|recovered|experienced|refused|declined|consented|agreed|answered|replied|improved)\b", I)
AT_LAST = Cue(r"\b(?:final|analytic(?:al)?|remaining|resulting|retained)\s+(?:[a-z]+\s+){0,2}(?:sample|data ?set|cohort|participants|patients|respondents|cases|records|studies|articles)s?(?:\s+(?:size|was|were|of|is|included|comprised|consisted of))*[\s,(]*$", I, ("final", "analytic", "remaining", "resulting", "retained"))
"""How many came out, by what they did, or by what is said of them: `n = 143 patients completed`, `the final sample (n = 57)`."""
SORTS = Cue(r"\b(?:remained|identified|screened|retrieved|dedup\w*|most|majority|few|followed by|remaining|rest|common\w*|frequent\w*|excluded|exclusion|reasons?|reported|mentioned|responded|answered|dropped out|withdrew|met|eligible)\b|%", I)
"""What a sentence does that sorts things and tells how many fell under each head."""
ASSIGNED = Cue(r"\b(?:assigned|allocated|randomi[sz]ed|divided|recruited|enrol(?:l)?ed|invited)\b", I)
REPORTS = Cue(r"[\s\u00a0$]+(?:[A-Za-z-]+\s+){0,2}(?:articles?|records?|abstracts?|titles?|full[- ]texts?|studies|papers|publications|citations|hits|reports?|references|evaluations|trials|data ?sets)\b", I)
SCREENED = Cue(r"\b(?:returned|retrieved|screened|duplicates?|inclusion criteria|eligib\w+|full[- ]texts?|for inclusion|data extraction|(?:search|query|queries)\b[^.;]{0,60}\b(?:found|gave|identified|yielded|produced|assessed)|(?:assess|screen|identif|review|retriev)\w*\b[^.;]{0,60}\b(?:and|then) excluded)\b", I)
"""How a systematic search went."""
KEPT = Cue(r"[\s\u00a0$]+(?:included|eligible|retained|remaining|identified|unique)\s", I)
SEXES = Cue(r"[\s\u00a0$]+(?:were\s+)?(?:wom[ae]n|m[ae]n|females?|males?|girls?|boys?)\b", I)
FROM_THINGS = Cue(r"\d(?:\s+[a-z-]+s)?\s+from\s*$", I)
WHOLE = Cue(r"\W*(?:out )?of (?:the|these|those|all|our)\s*\|", I)
PART = Cue(r"\W*(?:out )?of (?:the|these|those|all|our)?\s*\d[^.;,()]{0,80},\s(?:[a-z]+\s){0,2}\|", I)
OF_WHOM = Cue(r"\bof (?:whom|which|these|those),?(?:\s(?:only|about|around|over))?[\s$]*$", I)
OF_THESE = Cue(r"\bof (?:these|those)(?:\s[a-z-]+){1,4},\s(?:only\s|about\s|over\s)?[$]?$", I, ("of these", "of those"))
FARED = Cue(r"[\s\u00a0$]+(?:[a-z-]+\s){0,2}?(?:were|was|had|have|could|did|met|showed)\b(?!\s(?:then\s|also\s)?(?:randomly|selected|chosen|sampled|drawn|assigned|allocated|used|held|set|reserved|kept|taken|added))", I)
SHARED_OUT = Cue(r"[\s\u00a0$]+of (?:them|these|those|which|whom)\s(?:were|are|was|had|have|did|is)\b(?!\s(?:shown|plotted|displayed|listed|randomly|selected|chosen|sampled|assigned|used|held|set|reserved|kept))", I)
"""Some of the things told before, and how they fared: `of these drawn segments, 38 were usable`, `12 % of them were false`."""
SORTED_AS = Cue(r"[\s\u00a0$]+as\s(?!(?:a|an|the|well|many|much|few|long|possible|described|before)\b)", I)
SORTED = Cue(r"\b(?:classified|identified|labell?ed|coded|scored|rated|recogni[sz]ed|categori[sz]ed) as\b[^.;]*,[^.;]*$", I, (" as ",))
GOES_ON_WITH = Cue(r"[^.;]{0,90},\s[^.;]{0,20}?\b(?:\d|one|two|three|four|five|six|seven|eight|nine|ten|none|only|half|most)", I)
HOLDS = Cue(r"\b(?:contain|compris|includ|hold|cover|represent|span|yield|giv|gave|produc)\w*\s*(?:a total of|in total|about|over|around|only)?[\s$]*$", I)
LEFT = Cue(r"\b(?:resulting|remaining|final|filtered|cleaned|analytic(?:al)?)\s+(?:\w+\s+){1,3}(?:contain|compris|consist|includ|ha[sd]|hold)\w*\b[^.;]{0,40}$|\b(?:resulting|remaining|final|analytic(?:al)?)\s+(?:[a-z]+\s+)?samples?(?:\s+sizes?)?\s+(?:was|were|of|is|are)\b[^.;]{0,40}$", I)
DISTINCT = Cue(r"[\s\u00a0$]+(?:[a-z-]+\s)?(?:unique|different|distinct)\s", I)
CAME_UP = Cue(r"[\s\u00a0$]+(?:unique|different|distinct)\s(?:[a-z-]+\s){1,3}(?:were|was)\s(?:\w+ly\s)?(?:found|identified|obtained|observed|left|detected|recovered|discovered)\b", I)
STATISTIC_LISTED = re.compile(r"[A-Za-zα]\d{0,2}\u200b?\$?\s*(?:=|:(?!0\d{3}))\s*\$?\d+(?:\.\d+)?|\d[\s$]*\^?°[\s$\u200b]*[NSEW]\b")
SIGMA = Cue(r"[\s\u00a0$-]*(?:\\sigma|sigma|σ)[\s\u00a0$-]*(?:larger|smaller|higher|lower|above|below|away|of|from|tension|discrepan\w+)")
AGREES = Cue(r"\b(?:agree\w*|consistent|within|significance|deviat\w+|tension|excess|detection|exceed\w*)\b", I)
GAP = Cue(r"\b(?:discrepanc(?:y|ies)|differences?|gaps?|changes?|gains?|loss(?:es)?|increases?|decreases?|reductions?|declines?|drops?|rises?|improvements?)\s\([$]?$", I)
SET_GAP = Cue(r"\b(?:minim\w+|maxim\w+|tolera\w+|expected|target\w*|allowed|smallest|detectable|assum\w+|planned|set|fixed|imposed|applied)\b", I)
"""A difference told with its sign in parentheses: `the small gap (-2.8 km)`."""
COMES_TO = Cue(r"\b(?:medians?|means?|averages?|estimates?|bias|errors?|differences?|ratios?|results?|values?|rates?|fit|slopes?)\b[^.;]{0,60}\b(?:is|are|was|were|becomes?)[\s:\ue004]*$", I)
ANNOUNCES = Cue(r"\b(?:yields?|yielded|gives?|gave|f[oi]nd|found|obtain\w*|result\w*|measur\w*|estimat\w*|derive[sd]?|infer\w*|rate|value)\b[^.;]*$", I)
SECTIONED = Cue(r"[\s\u00a0]*(?:[:.(\u2014\u2013]|$|(?<=\s)[A-Z][a-z])")
DETERMINER = Cue(r"\b(?:the|this|that|its|their)[\s\u00a0]$", I)
VOLUME_BEFORE = Cue(r"\b\d+\s*(?:\(\d+\)\s*)?[,:]\s*(?:\d+\s*[\u2013-]+\s*)?$")
VOLUME_AFTER = Cue(r"\s*(?:\(\d+\))?\s*[,:]\s*[A-Z]?\d+(?:\s*[\u2013-]+\s*\d+)?\s*,?\s*\((?:19|20)\d\d\)")
PAGE_AFTER = Cue(r"(?:\s*[\u2013-]+\s*\d+)?\s*,?\s*\((?:19|20)\d\d\)")
ENTRY = Cue(r"(?:\[?\d+[\].]\s*)?[A-Z][\w'\u2019-]+(?:,\s*|\s)[A-Z]\.?(?:[A-Z]\.?|[\s-])*[,.&;:(][^\n]*?(?:\((?:19|20)\d\d[a-z]?\)[.,:]|(?:19|20)\d\d;\s*\d|\b\d+\s*\(\d+\)\s*[:,]\s*\d+|\b\d+\s*,\s*\d+\s*\((?:19|20)\d\d\))")
"""How an entry of a bibliography opens: `Smith, J., ... (2008).`, `Smith J. ... 2010;12`."""
POSTAL = Cue(r"\b[A-Z]{2},?[\s\u00a0]*(?:\d{5}-)?$")
STREET = Cue(r"(?:\s+[A-Z][a-z]+){0,2}\s+(?:Rd|St|Street|Road|Ave|Avenue|Blvd|Boulevard|Broadway|Lane|Drive|Floor|Stra(?:ss|ß)e)\b|\s+Broadway\b")
BOTH_SIDES = Cue(r"\s*[-\u2212]?\d*\.\d+\s*[<≤][^<≤\d]*\d?[^<≤\d]*[<≤]\s*[-\u2212]?\d*\.\d+\W*$")
SLOPES = Cue(r"\b(?:slopes?|exponents?|powers?|scalings?)\b(?:of|and|or|[-\u2212\d/,\s])*$", I)
COMPARATIVE = Cue(
    r"[\s\u2009\u00a0$-]*(?:(?:×|x|times|-?fold)[\s\u00a0$]+(?:\w+\s+)?(?:fewer|more|faster|slower|higher|lower|less|larger|smaller|better|worse|as|the|tighter|greater|cheaper)\b"
    r"|(?:(?!or\b|and\b|to\b|but\b)[A-Za-zμ%°]+\s+){0,2}(?:higher|lower|faster|slower|larger|smaller|shorter|longer|earlier|better|worse|ahead|behind|tighter|greater|cheaper)\b)",
)
"""A difference that was found."""
AVERAGED = Cue(r"\b(?:median|mean|mode|(?:inter)?quartile range|iqr)[\s$:]*(?:(?:was|is|of|in)\s+)?(?:\d{4}[\s$]*(?:to|--?|\u2013|,)[\s$]*)?$", I)
"""A year that was averaged."""
