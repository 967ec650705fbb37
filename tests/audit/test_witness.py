"""`audit witness` asks a local authority over HTTP and stores its answer; whatever is strange is one line, exit 2, nothing written."""

from __future__ import annotations

import contextlib
import http.server
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from authority import local
from project import Project
from tampering_witness import SECOND, TOKEN, seal_bytes, stamp

from audit.cli import main
from audit.context import Context
from audit.finding import Severity
from audit.timestamp import parse_token
from audit.verify import verify
from audit.witness import LARGEST, post

Answer = Callable[[bytes], tuple[int, bytes]]


@contextlib.contextmanager
def serve(answer: Callable[[http.server.BaseHTTPRequestHandler, bytes], None]) -> Iterator[str]:
    """A server on this machine that treats each request so; yields its address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.headers["Content-Type"] == "application/timestamp-query"
            with contextlib.suppress(ConnectionError):
                answer(self, self.rfile.read(int(self.headers["Content-Length"])))

        def log_message(self, *_: object) -> None:
            """Silence."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/tsa"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def reply(handler: http.server.BaseHTTPRequestHandler, body: bytes, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def honest(handler: http.server.BaseHTTPRequestHandler, query: bytes) -> None:
    """What an authority does."""
    reply(handler, local("rsa").answer(query))


def ask(p: Project, *arguments: str) -> int:
    """The exit code of the command line in the project."""
    with p.inside():
        try:
            return main(["witness", *arguments])
        except SystemExit as ended:
            return int(ended.code or 0)


def test_answer_is_stored_and_then_anchored(sealed: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """The whole answer lies beside the seal; committed, it is anchored by the verifier's root and by no other."""
    with serve(honest) as url:
        assert ask(sealed, "pilot", "--tsa", url) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{TOKEN}: the seal existed at 20") and "unanchored here: no root was given" in said and "git add" in said
    assert sealed.git("status", "--short") == f"?? {TOKEN}"
    token = parse_token((sealed.root / TOKEN).read_bytes())
    assert token.stamps(seal_bytes(sealed)) and token.nonce is not None
    sealed.commit("Witness")
    assert notes(sealed)[0].startswith("unanchored: an authority unknown to you says 20")
    with sealed.inside():
        report = verify(Context.open(roots=(local("rsa").root,)))
    assert any(finding.what.startswith("anchored: the seal existed at") for finding in report.findings)


def notes(p: Project) -> list[str]:
    return [f.what for f in verify(p.context()).findings if f.code == "A211" and f.place == TOKEN]


def test_each_request_has_another_nonce(sealed: Project) -> None:
    """A nonce that was seen before would let an old answer pass for a new one."""
    asked: list[bytes] = []
    with serve(lambda handler, query: (asked.append(query), honest(handler, query))[1]) as url:
        assert ask(sealed, "pilot", "--tsa", url) == 0 and ask(sealed, "pilot", "--tsa", url) == 0
    assert len(set(asked)) == 2


def test_second_witness_gets_a_name_of_its_own(sealed: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A second answer never overwrites the first, committed or not."""
    with serve(honest) as url:
        ask(sealed, "pilot", "--tsa", url)
        first = (sealed.root / TOKEN).read_bytes()
        assert ask(sealed, "pilot", "--tsa", url, "--root", str(local("rsa").root)) == 0
    assert (sealed.root / TOKEN).read_bytes() == first and (sealed.root / SECOND).is_file()
    said = capsys.readouterr().out
    assert "a second time stamp: seeds take the first that was committed" in said and "anchored by your root" in said


def stale(handler, query: bytes) -> None:
    """The answer to somebody else's request for the same seal."""
    authority = local("rsa")
    authority.write("other.tsq", query)
    imprint = query[query.index(b"\x04\x20") + 2 :][:32].hex()
    reply(handler, authority.answer(authority.run("-query", "-digest", imprint, "-sha256", "-cert")))


def other_seal(handler, query: bytes) -> None:
    """A token with the right nonce over another seal."""
    at = query.index(b"\x04\x20") + 2
    reply(handler, local("rsa").answer(query[:at] + bytes(32) + query[at + 32 :]))


def broken_signature(handler, query: bytes) -> None:
    answer = local("rsa").answer(query)
    reply(handler, answer[:-1] + bytes([answer[-1] ^ 1]))


def refusing(handler, query: bytes) -> None:
    reply(handler, local("rsa").answer(query.replace(b"\x04\x02\x01", b"\x04\x02\x03").replace(b"\x04\x20", b"\x04\x20")))


def slow(handler, query: bytes) -> None:
    time.sleep(1.5)
    honest(handler, query)


def dripping(handler, query: bytes) -> None:
    """A byte now and then, for ever."""
    handler.send_response(200)
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b"\x30")
        handler.wfile.flush()
        time.sleep(0.1)


def endless(handler, query: bytes) -> None:
    handler.send_response(200)
    handler.end_headers()
    for _ in range(64):
        handler.wfile.write(bytes(LARGEST // 16))


STRANGE = {
    "nonce": (stale, "answers another request: the nonce is not the one that was sent"),
    "seal": (other_seal, "its time stamp stamps other bytes than those of the seal"),
    "signature": (broken_signature, "its time stamp bears a signature that is not its signer's"),
    "refused": (refusing, "the authority granted no token: status 2"),
    "garbage": (lambda handler, _: reply(handler, b"<html>welcome</html>"), "answers with something that is no time stamp"),
    "empty": (lambda handler, _: reply(handler, b""), "answers with something that is no time stamp"),
    "truncated": (lambda handler, query: reply(handler, local("rsa").answer(query)[:-9]), "answers with something that is no time stamp"),
    "error": (lambda handler, _: reply(handler, b"", 500), "answers with an error; found HTTP 500"),
    "elsewhere": (lambda handler, _: reply(handler, b"", 302, Location="/elsewhere"), "answers with an error; found HTTP 302"),
    "cut": (lambda handler, _: (handler.send_response(200), handler.send_header("Content-Length", "9"), handler.end_headers())[0], "no time stamp"),
    "slow": (slow, "gives no answer; found timed out"),
    "drip": (dripping, "gives no end of an answer"),
    "huge": (endless, f"gives no end of an answer; expected at most {LARGEST} bytes"),
}


@pytest.mark.parametrize("name", STRANGE)
def test_strange_answer_writes_nothing(name: str, sealed: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, exit 2, the tree as it was."""
    monkeypatch.setattr("audit.witness.SECONDS", 0.7)
    answer, wanted = STRANGE[name]
    with serve(answer) as url:
        assert ask(sealed, "pilot", "--tsa", url) == 2
    shown = capsys.readouterr()
    assert wanted in shown.err and shown.err.count("\n") == 1 and shown.out == ""
    assert sealed.git("status", "--short") == ""


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://127.0.0.1/x", "nonsense", "http://", "http://127.0.0.1:1/", "http://a b/", "https://[::/"]
)
def test_address_that_answers_nothing(url: str, sealed: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """No network, no such address, another kind of address."""
    assert ask(sealed, "pilot", "--tsa", url) == 2
    assert capsys.readouterr().err.count("\n") == 1 and sealed.git("status", "--short") == ""


def test_uncommitted_seal_is_not_sent(drafted: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """What is stamped is what history holds: a draft, an uncommitted or an edited seal asks nobody."""
    asked: list[bytes] = []
    with serve(lambda handler, query: (asked.append(query), honest(handler, query))[1]) as url:
        assert ask(drafted, "pilot", "--tsa", url) == 2
        drafted.seal()
        assert ask(drafted, "pilot", "--tsa", url) == 2
        drafted.commit("Seal")
        drafted.edit("prereg/pilot.seal.json", '"warnings": [', '"warnings":  [')
        assert ask(drafted, "pilot", "--tsa", url) == 2
    assert asked == [] and not list(drafted.root.glob("prereg/*.tsr")) and capsys.readouterr().err.count("\n") == 3


def test_seal_of_another_repository_is_not_sent(drafted: Project, tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    """A seal that was brought from elsewhere does not seal what is here: nobody is asked about it, nothing is written."""
    other = drafted.copy(tmp_path / "other")
    other.edit("judge.py", "0.5", "0.6")
    other.commit("Another judge")
    other.sealed()
    drafted.seal()
    drafted.write("prereg/pilot.seal.json", seal_bytes(other))
    drafted.commit("Their seal")
    asked: list[bytes] = []
    with serve(lambda handler, query: (asked.append(query), honest(handler, query))[1]) as url:
        assert ask(drafted, "pilot", "--tsa", url) == 2
    shown = capsys.readouterr().err
    assert asked == [] and "judge.py: is frozen by pilot and differs at HEAD" in shown and shown.count("\n") == 1
    assert drafted.git("status", "--short") == ""


def test_witness_of_another_repository_is_refuted(ran: Project, drafted: Project) -> None:
    """A token brought from elsewhere stamps another seal."""
    drafted.edit("judge.py", "0.5", "0.6")
    drafted.commit("Another judge")
    drafted.sealed()
    ran.write(TOKEN, stamp(drafted))
    report = verify(ran.context())
    assert report.code == 1 and "A210" in {finding.code for finding in report.findings}


def test_unknown_registration_is_one_line(sealed: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody is asked about what is not there."""
    assert ask(sealed, "nothing", "--tsa", "http://127.0.0.1:1/") == 2
    assert "prereg/nothing.seal.json" in capsys.readouterr().err


def test_without_the_library_imprint_and_nonce_are_still_compared(
    sealed: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What needs no cryptography is checked; what was not is said."""
    monkeypatch.setattr("audit.witness.is_installed", lambda: False)
    for answer in (stale, other_seal):
        with serve(answer) as url:
            assert ask(sealed, "pilot", "--tsa", url) == 2
    with serve(honest) as url:
        assert ask(sealed, "pilot", "--tsa", url) == 0
    assert "its signature was not verified (pip install 'rankcollapse-audit[witness]')" in capsys.readouterr().out


def test_answer_comes_whole(sealed: Project) -> None:
    """What is stored is byte for byte what the authority sent."""
    with serve(lambda handler, query: reply(handler, query[::-1])) as url:
        assert post(url, b"abc") == b"cba"
    assert stamp(sealed) == (sealed.root / TOKEN).read_bytes()


def test_notes_fail_nothing(ran: Project) -> None:
    """An unanchored witness is a note: the reader has no root, which is not the author's fault."""
    stamp(ran)
    report = verify(ran.context())
    assert report.code == 0 and {f.severity for f in report.findings if f.code == "A211"} == {Severity.NOTE}
