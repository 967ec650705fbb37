"""`python -m rankcollapse.engine --plan SCALE`: what a study costs, before it is run."""

import sys

from rankcollapse.costs import main
from rankcollapse.stage import run_stage

if __name__ == "__main__":
    sys.exit(run_stage(main, ("--plan", "SCALE")))
