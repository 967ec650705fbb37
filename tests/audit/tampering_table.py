"""One tampering for each finding code: what is done, to which project, which check sees it, and which others do too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import broken_scripts
import tampering
import tampering_amended
import tampering_files
import tampering_metrics
import tampering_rows
import tampering_runs
import tampering_sharing
import tampering_unjudged
import tampering_witness
from project import Project

from audit.checks import TABLE as CHECKS

EVERY_OTHER = tuple(check.name for check in CHECKS if check.name != "registrations")
WHOLE = frozenset({"A201", "A202", "A203"})
HISTORY_CHECKS = ("sealing", "closed", "sharing", "order", "refs", "times", "witnesses", "code", "packages", "ignored", "amendments", "deviations")


@dataclass(frozen=True)
class Row:
    """One tampering; with `also` disabled only `check` sees it, with both nothing does."""

    code: str
    check: str
    tamper: Callable[[Project], None]
    also: tuple[str, ...] = ()
    base: str = "ran"
    exit: int = 1
    codes: frozenset[str] = frozenset()

    @property
    def wanted(self) -> set[str]:
        return set(self.codes) or {self.code}


TABLE = (
    Row("A100", "registrations", tampering.bad_parameters, also=EVERY_OTHER, exit=2),
    Row("A101", "registrations", tampering.bad_registration),
    Row("A102", "registrations", tampering.outcome_without_seal, also=("outcomes", "records", "runs", "pipeline"), base="drafted"),
    Row("A103", "seals", tampering.seal_content, also=("sealing", "runs", "closed", "code")),
    Row("A104", "sealing", tampering.seal_bytes, also=("runs",)),
    Row("A104", "sealing", tampering.script(broken_scripts.sealed_again), also=("runs", "order", "code"), base="drafted"),
    Row("A105", "seals", tampering.frozen_code),
    Row("A106", "seals", tampering.committed_line_endings),
    Row("A106", "seals", tampering_rows.registration_line_endings),
    Row("A107", "seals", tampering.frozen_parameter),
    Row("A108", "sealing", tampering.ledger_left_out, also=("order", "runs")),
    Row("A109", "sealing", tampering.seal_before_its_bytes, also=("order", "runs")),
    Row("A110", "sealing", tampering.attributes),
    Row("A111", "registrations", tampering.same_predictions),
    Row("A112", "outcomes", tampering.other_calibration, also=("runs",)),
    Row("A113", "outcomes", tampering.unknown_metric),
    Row("A116", "outcomes", tampering_metrics.widened_tolerance, also=("verdicts", "runs"), base="drafted"),
    Row("A116", "outcomes", tampering_metrics.another_summary, also=("verdicts", "runs"), base="drafted"),
    Row("A116", "outcomes", tampering_metrics.doubled_units, also=("verdicts", "runs"), base="drafted"),
    Row("A114", "closed", tampering.edited_outcome, also=("verdicts",)),
    Row("A114", "closed", tampering.moved_log),
    Row("A114", "closed", tampering.outcome_without_record),
    Row("A114", "closed", tampering_files.linked_outcome),
    Row("A101", "registrations", tampering_files.linked_registration, also=("seals", "verdicts", "order", "sealing", "runs", "outcomes", "code")),
    Row("A103", "seals", tampering_files.linked_seal, also=("sealing", "runs", "closed", "code")),
    Row("A301", "records", tampering_files.linked_record, also=("runs", "pipeline", "order", "deviations")),
    Row("A301", "records", tampering_files.linked_folder),
    Row("A122", "sharing", tampering_sharing.rival_seeds, base="sealed", also=("pipeline",)),
    Row("A122", "sharing", tampering_sharing.shared_after_the_run, also=("order", "runs")),
    Row("A123", "unjudged", tampering_unjudged.run_in_part, base="sealed"),
    Row("A123", "unjudged", tampering_unjudged.trained_only, base="sealed", also=("pipeline",)),
    Row("A123", "unjudged", tampering_unjudged.passed_over, base="drafted", also=("deviations",)),
    Row("A123", "unjudged", tampering_unjudged.dropped, base="sealed", also=("sealing",)),
    Row("A123", "unjudged", tampering_unjudged.looked_away, base="sealed"),
    Row("A305", "runs", tampering_files.linked_log, also=("order", "deviations")),
    Row("A104", "sealing", tampering_amended.registration_dropped, also=("runs", "unjudged")),
    Row("A118", "amendments", tampering_amended.second_on_one_predecessor, also=("sealing",)),
    Row("A118", "amendments", tampering_amended.fork_given_up),
    Row("A118", "amendments", tampering_amended.gap, also=("sealing",)),
    Row("A118", "amendments", tampering_amended.text_edited),
    Row("A118", "amendments", tampering_amended.seal_edited),
    Row("A118", "amendments", tampering_amended.sealed_twice),
    Row("A118", "amendments", tampering_amended.amendment_dropped),
    Row("A118", "amendments", tampering_amended.seal_before_its_text),
    Row("A118", "amendments", tampering_amended.another_record),
    Row("A118", "amendments", tampering_amended.linked_amendment),
    Row("A118", "amendments", tampering_amended.linked_amendment_seal),
    Row("A108", "sealing", tampering_amended.ledger_without_the_amendment, also=("order", "runs")),
    Row("A309", "verdicts", tampering_amended.called_before_the_outcome),
    Row("A309", "verdicts", tampering_amended.amended_verdict_flipped),
    Row("A119", "deviations", tampering_amended.parameter_tuned, base="sealed"),
    Row("A119", "deviations", tampering_amended.import_exchanged, base="sealed"),
    Row("A119", "deviations", tampering_amended.data_exchanged, base="sealed", also=("pipeline",)),
    Row("A119", "deviations", tampering_amended.package_exchanged, base="sealed", also=("packages",)),
    Row("A119", "deviations", tampering_amended.exemption_added),
    Row("A120", "deviations", tampering_amended.declared_for_nothing),
    Row("A120", "deviations", tampering_amended.declared_badly),
    Row("A120", "deviations", tampering_amended.declared_for_nobody),
    Row("A120", "deviations", tampering_amended.linked_declaration, base="sealed", codes=frozenset({"A119", "A120"})),
    Row("A121", "deviations", tampering_amended.deviation_left_out, base="sealed"),
    Row("A121", "deviations", tampering_amended.deviation_made_up),
    Row("A200", "order", tampering.lost_object, also=("deviations",), exit=2),
    Row("A201", "order", tampering.script(broken_scripts.same_record_elsewhere), base="drafted", codes=frozenset({"A201", "A202"})),
    Row("A202", "order", tampering.script(broken_scripts.held_back), base="drafted", codes=frozenset({"A202", "A203"})),
    Row("A203", "order", tampering.script(broken_scripts.raw_run_before), base="drafted"),
    Row("A204", "order", tampering.mended, base="sealed"),
    Row("A205", "history", tampering.no_history, also=HISTORY_CHECKS, exit=2),
    Row("A206", "history", tampering.replace_ref),
    Row("A206", "history", tampering.grafts_file),
    Row("A207", "history", tampering.hidden_from_git),
    Row("A207", "history", tampering.assumed_unchanged),
    Row("A208", "refs", tampering_sharing.shown_elsewhere_first),
    Row("A210", "witnesses", tampering_witness.token_of_another_seal),
    Row("A210", "witnesses", tampering_witness.altered_time),
    Row("A210", "witnesses", tampering_witness.another_request),
    Row("A210", "witnesses", tampering_witness.required_token_dropped, base="drafted"),
    Row("A210", "witnesses", tampering_witness.required_token_replaced, base="drafted"),
    Row("A210", "witnesses", tampering_witness.proof_of_another_file),
    Row("A212", "witnesses", tampering_witness.truncated_token, exit=2),
    Row("A212", "witnesses", tampering_witness.truncated_proof, exit=2),
    Row("A300", "pipeline", tampering.bad_lock, also=("ignored", "deviations"), exit=2),
    Row("A301", "records", tampering_files.truncated, also=("runs", "pipeline")),
    Row("A301", "records", tampering.not_a_number, also=("runs", "pipeline")),
    Row("A301", "records", tampering.repeated_key, also=("runs", "pipeline")),
    Row("A301", "records", tampering_files.pointer, also=("runs", "pipeline"), exit=2),
    Row("A302", "records", tampering.extra_key, also=("runs",)),
    Row("A302", "records", tampering.no_schema, also=("deviations",)),
    Row("A302", "records", tampering.loose_schema, also=("deviations",)),
    Row("A302", "records", tampering.schema_elsewhere, also=("deviations",)),
    Row("A302", "records", tampering.no_provenance, also=("runs", "deviations")),
    Row("A303", "runs", tampering.log_of_another),
    Row("A304", "pipeline", tampering.edited_log, also=("runs",)),
    Row("A304", "pipeline", tampering.edited_record, also=("runs",)),
    Row("A304", "pipeline", tampering.no_lock, exit=2),
    Row("A305", "runs", tampering.no_log, also=("pipeline",), exit=2),
    Row("A306", "pipeline", tampering_files.record_gone),
    Row("A306", "pipeline", tampering_files.deletion_committed),
    Row("A306", "pipeline", tampering_files.deletion_unlocked, also=("unjudged",)),
    Row("A304", "pipeline", tampering_files.edited_figure),
    Row("A304", "pipeline", tampering_files.dropped_figure),
    Row("A304", "pipeline", tampering_files.edited_in_the_cache),
    Row("A306", "pipeline", tampering_files.source_gone),
    Row("A307", "records", tampering.typed_summary, also=("runs",)),
    Row("A308", "seeds", tampering.dropped_seed, also=("runs",)),
    Row("A309", "verdicts", tampering.flipped_verdict),
    Row("A309", "verdicts", tampering.typed_count),
    Row("A316", "verdicts", tampering.better_after_closing, base="sealed"),
    Row("A310", "pipeline", tampering.frozen_stage),
    Row("A310", "pipeline", tampering.frozen_cells),
    Row("A310", "pipeline", tampering.frozen_each),
    Row("A313", "pipeline", tampering.other_parameters),
    Row("A311", "code", tampering.other_code, also=("deviations",)),
    Row("A312", "pipeline", tampering.unproduced, also=("runs",)),
    Row("A313", "pipeline", tampering.other_command),
    Row("A313", "pipeline", tampering_runs.undeclared_input),
    Row("A313", "pipeline", tampering_runs.undeclared_parameters),
    Row("A314", "runs", tampering.stale_source),
    Row("A105", "seals", tampering_rows.prediction_byte, also=("verdicts",)),
    Row("A104", "sealing", tampering_rows.dropped_registration, also=("unjudged", "runs", "verdicts", "seals", "order", "code")),
    Row("A101", "registrations", tampering_rows.duplicate_key),
    Row("A101", "registrations", tampering_rows.alias),
    Row("A101", "registrations", tampering_rows.second_document),
    Row("A201", "order", tampering.script(broken_scripts.record_first), base="drafted", codes=WHOLE),
    Row("A201", "order", tampering.script(broken_scripts.together), base="drafted", codes=WHOLE),
    Row("A201", "order", tampering.script(broken_scripts.backdated), base="drafted", codes=WHOLE),
    Row("A201", "order", tampering.script(broken_scripts.squash_of_all), also=("code",), base="drafted", exit=2, codes=frozenset({"A201", "A202"})),
    Row("A202", "order", tampering.script(broken_scripts.rebased), also=("code",), base="drafted", exit=2),
    Row("A205", "history", tampering_rows.shallow, also=HISTORY_CHECKS, exit=2),
    Row("A201", "order", tampering.script(broken_scripts.revert_and_add_again), base="drafted", codes=WHOLE),
    Row("A201", "order", tampering.script(broken_scripts.staged_seal), base="drafted", codes=WHOLE),
    Row("A303", "runs", tampering_rows.digit, also=("pipeline", "records", "order", "verdicts"), codes=frozenset({"A303", "A314"})),
    Row("A304", "pipeline", tampering_rows.record_and_log, also=("runs",)),
    Row("A309", "verdicts", tampering_rows.repeated_value),
    Row("A304", "pipeline", tampering_rows.lock_entry),
    Row("A308", "seeds", tampering_rows.swapped_seed, also=("runs",)),
    Row("A308", "seeds", tampering_rows.doubled_seed, also=("runs",)),
    Row("A306", "pipeline", tampering_rows.cell_gone, also=("runs", "order")),
    Row("A207", "history", tampering_rows.hidden_edit),
    Row("A204", "order", tampering_rows.widened_tolerance, base="sealed"),
    Row("A317", "foreign", tampering_runs.foreign_module),
    Row("A318", "packages", tampering_runs.altered_package),
    Row("A318", "packages", tampering_runs.other_version, base="sealed"),
    Row("A319", "environment", tampering_runs.preloaded),
    Row("A319", "environment", tampering_runs.path_elsewhere),
    Row("A320", "ignored", tampering_runs.ignored_dependency),
    Row("A320", "ignored", tampering_runs.ignored_nested),
    Row("A320", "ignored", tampering_runs.ignored_input),
)
