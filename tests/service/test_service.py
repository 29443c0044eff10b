"""LanguageTool's HTTP API as its clients use it, the limits, and the guards."""

import http.client
import json
import random
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from types import SimpleNamespace
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import pytest
from click.testing import CliRunner

from service import server
from service.__main__ import main
from service.annotated import Annotated
from service.checker import TOGETHER, TooSlowError
from service.languagetool import LONGEST
from service.server import Guard, Limits, Rate
from tests.hostile_texts import hostile_texts
from tests.service.conftest import WRONG

SHOWN = [("할수있는", "할 수 있는"), ("머거요", "먹어요"), ("몇일", "며칠")]


def in_utf16(text: str, start: int, length: int) -> str:
    return text.encode("utf-16-le")[2 * start : 2 * (start + length)].decode("utf-16-le")


def shown(answer, text: str = WRONG) -> list[tuple[str, str]]:
    """The wrong words and their replacements, as a client that counts in UTF-16 cuts them out."""
    return [
        (in_utf16(text, each["offset"], each["length"]), each["replacements"][0]["value"])
        for each in answer.json["matches"]
    ]


def test_a_match_has_everything_that_clients_read(running):
    answer = running.check(text=WRONG)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert answer.headers["cache-control"] == "no-store" and shown(answer) == SHOWN
    for each in answer.json["matches"]:
        context = each["context"]
        assert in_utf16(context["text"], context["offset"], context["length"]) in dict(SHOWN)
        assert each["message"] and each["shortMessage"] and each["sentence"] in WRONG
        assert each["type"]["typeName"] == "UnknownWord" and each["rule"]["issueType"] == "misspelling"
    first = answer.json["matches"][0]["rule"]
    assert first["id"] == "KO_DEPENDENT_NOUN_PARTED" and first["description"].startswith("한글 맞춤법 제42항")
    assert first["category"] == {"id": "TYPOGRAPHY", "name": "띄어쓰기"}
    second = answer.json["matches"][1]
    assert (second["rule"]["id"], second["shortMessage"]) == ("KO_SOUND", "소리 나는 대로 적은 말")
    why = "두 표기는 소리가 같습니다(연음). 그래서 헷갈리기 쉽습니다."
    assert second["message"] == f"머거요 → 먹어요. {why}"
    link = dict(parse_qsl(urlsplit(second["rule"]["urls"][0]["value"]).query))
    assert link == {"sentence": "오늘은 할수있는 만큼 머거요.", "edit": "3", "view": "wrote"}
    assert answer.json["language"]["code"] == "ko-KR" and answer.json["software"]["apiVersion"] == 1


def of_obsidian(text: str) -> tuple[bytes, dict[str, str]]:
    """As wrenger/obsidian-languagetool, src/api.ts."""
    fields = {
        "data": json.dumps({"annotation": [{"markup": "# ", "interpretAs": "\n\n"}, {"text": text}]}),
        "language": "auto",
        "enabledOnly": "false",
        "level": "default",
        "preferredVariants": "en-US,de-DE",
    }
    return urlencode(fields).encode(), {"Content-Type": "application/x-www-form-urlencoded"}


def of_ltex(text: str) -> tuple[bytes, dict[str, str]]:
    """As ltex-plus/ltex-ls-plus, LanguageToolHttpInterface.kt: a form that is called JSON."""
    data = json.dumps({"annotation": [{"markup": "# "}, {"text": text}]})
    fields = {"language": "ko-KR", "data": data, "motherTongue": "ko", "enabledRules": "KO_SPACING"}
    return urlencode(fields).encode(), {"Content-Type": "application/json"}


@pytest.mark.parametrize("client", [of_obsidian, of_ltex])
def test_annotated_documents_have_the_offsets_of_their_markup(running, client):
    body, headers = client(WRONG)
    assert shown(running.ask("POST", "/v2/check", body, **headers), f"# {WRONG}") == SHOWN


def test_a_text_that_is_not_encoded_is_read_as_it_is(running):
    """As LibreOffice 7.4, languagetoolimp.cxx."""
    text = f"A&B + 50% = {WRONG}"
    answer = running.ask("POST", "/v2/check", f"text={text}&language=ko-KR".encode())
    assert shown(answer, text) == SHOWN


def test_a_form_in_an_address_is_answered_too_and_a_ping_without_one(running):
    path = f"/v2/check?{urlencode({'language': 'ko', 'text': WRONG})}"
    assert shown(running.ask("GET", path)) == SHOWN
    assert running.ask("HEAD", "/v2/check").status == 200


def test_offers_are_hints_for_picky_clients(running):
    text = "지금 rkrh 있어."
    assert running.check(text=text, level="default").json["matches"] == []
    (hint,) = running.check(text=text, level="picky").json["matches"]
    assert (hint["type"]["typeName"], hint["rule"]["id"]) == ("Hint", "KO_LAYOUT")
    assert "accepted=1" in hint["rule"]["urls"][0]["value"]


@pytest.mark.parametrize(
    ("fields", "left"),
    [
        ({"disabledRules": "KO_DEPENDENT_NOUN_PARTED, KO_OTHER"}, SHOWN[1:]),
        ({"disabledCategories": "SOUND"}, [SHOWN[0], SHOWN[2]]),
        ({"enabledRules": "KO_SOUND", "enabledOnly": "true"}, SHOWN[1:2]),
        ({"enabledCategories": "SPACING", "enabledOnly": "true"}, SHOWN[:1]),
        ({"disabledCategories": "TYPOS"}, SHOWN[:1]),
        ({"enabledRules": "KO_SOUND"}, SHOWN),
    ],
)
def test_clients_switch_rules_and_categories(running, fields, left):
    assert shown(running.check(text=WRONG, **fields)) == left


def test_messages_are_in_the_language_of_the_writer(running):
    (each,) = running.check(text="몇일 뒤에 봬요.", motherTongue="en-US").json["matches"]
    assert "origin" in each["message"] or each["message"].isascii() is False
    assert each["shortMessage"].isascii()


def test_the_service_describes_itself(running):
    assert {each["longCode"] for each in running.ask("GET", "/v2/languages").json} == {"ko-KR"}
    assert running.ask("GET", "/v2/info").json["software"]["premium"] is False
    assert running.ask("GET", "/v2/maxtextlength").json == LONGEST


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"language=ko", 400),
        (b"language=en-US&text=a", 400),
        (b"language=ko&text=a&data={}", 400),
        (b"language=ko&data=[" + b"[" * 50_000, 400),
        (b'language=ko&data={"annotation": [1]}', 400),
        (b'language=ko&data={"annotation": [{"text": 1}]}', 400),
        (b"language=ko&text=a&enabledOnly=true", 400),
        (b"language=ko&text=\xff\xfe", 400),
        (b"&".join([b"a=b"] * 100), 400),
        (b"language=ko&text=" + b"a" * (LONGEST + 1), 413),
        (b"a" * (server.MOST_BYTES + 1), 413),
    ],
)
def test_a_request_that_is_none_is_refused_in_a_sentence(running, body, status):
    answer = running.ask("POST", "/v2/check", body)
    assert answer.status == status and answer.body.startswith(b"Error: ") and len(answer.body) < 200


def test_too_many_requests_too_many_waiting_and_too_long_a_wait_are_said(start):
    eager = start(limits=Limits(requests_a_minute=1))
    assert [eager.check(text="네.").status for _ in range(2)] == [200, 429]
    assert start(limits=Limits(waiting=0)).check(text="네.").status == 503
    assert start(limits=Limits(patience=-1)).check(text="처음 보는 문장입니다.").status == 503


def test_a_text_that_took_too_long_goes_on_where_it_stopped(corrector):
    text = "\n".join(f"{number}번째 문장은 처음 나와요." for number in range(200))
    batches = iter(range(1_000))
    with pytest.raises(TooSlowError):
        corrector.matches(Annotated.plain(text), is_over=lambda: next(batches) > 1)
    assert len(corrector.kept) >= 2 * TOGETHER
    assert corrector.matches(Annotated.plain(text)) == ()


def test_requests_whose_client_left_are_not_computed_to_their_end(start, corrector):
    """Three of them: one is in work and two wait for their turn."""
    running, before = start(), len(corrector.kept)
    texts = [
        "\n".join(f"{number}번째 문장은 {name}에게 처음 와요." for number in range(400)) for name in "가나다"
    ]
    connections = [http.client.HTTPConnection("127.0.0.1", running.port) for _ in texts]
    for connection, text in zip(connections, texts, strict=True):
        connection.request("POST", "/v2/check", urlencode({"language": "ko", "text": text}))
    while len(corrector.kept) == before:
        time.sleep(0.02)
    for connection in connections:
        connection.close()
    assert shown(running.check(text=WRONG)) == SHOWN
    assert len(corrector.kept) - before < 400


def test_the_rate_forgets_after_a_minute(monkeypatch):
    rate, now = Rate(2), [0.0]
    monkeypatch.setattr("service.server.time", SimpleNamespace(monotonic=lambda: now[0]))
    assert [rate.admits("a") for _ in range(3)] == [True, True, False]
    assert rate.admits("b")
    now[0] = 61.0
    assert rate.admits("a")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:8081"}, 200),
        ({"Host": "[::1]:8081"}, 200),
        ({"Host": "evil.example"}, 403),  # whose name leads to this machine (DNS rebinding)
        ({"Host": "127.0.0.1.evil.example"}, 403),
        ({"Host": "["}, 403),
        ({"Host": ""}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://localhost.evil.example"}, 403),
        ({"Origin": "null"}, 403),  # a sandboxed frame
        ({"Sec_Fetch_Site": "cross-site"}, 403),  # an image
        ({"Sec_Fetch_Site": "same-site"}, 403),
        ({"Sec_Fetch_Site": "none"}, 200),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Origin": "chrome-extension://oldceeleldhonbafppcapldpdifcinji"}, 200),
        ({"Origin": "moz-extension://a"}, 200),
        ({"Origin": "app://obsidian.md"}, 200),
        ({"Origin": "https://class.example"}, 200),
        ({"Host": "class.example"}, 200),
    ],
)
def test_only_known_names_and_sites_are_answered(guarded, headers, status):
    answer = guarded.ask("GET", "/v2/languages", **headers)
    assert answer.status == status
    allowed = headers.get("Origin") if status == 200 else None
    assert answer.headers["access-control-allow-origin"] == allowed


@pytest.fixture(scope="module")
def guarded(start):
    return start(Guard(frozenset({"class.example"}), frozenset({"https://class.example"})))


def test_a_browser_may_ask_first(running):
    answer = running.ask(
        "OPTIONS",
        "/v2/check",
        Origin="moz-extension://a",
        Access_Control_Request_Method="POST",
        Access_Control_Request_Headers="content-type",
    )
    assert answer.status == 200 and answer.headers["access-control-allow-methods"] == "GET, POST"
    assert answer.headers["access-control-allow-headers"] == "content-type"


def test_hostile_bodies_never_break_it(running):
    rng = random.Random(60)
    for text in hostile_texts(seed=60, count=40):
        data = json.dumps({"annotation": [{"text": text}, {"markup": text, "interpretAs": text[:5]}] * 3})
        raw = bytes(rng.randrange(256) for _ in range(50))
        fields = rng.choice([{"data": data}, {"text": text.encode("utf-8", "replace").decode()}])
        body = (
            quote(data).encode() if rng.random() < 0.1 else urlencode({"language": "auto", **fields}).encode()
        )
        for each in (body, body + raw, b"language=ko&text=" + raw):
            answer = running.ask("POST", "/v2/check", each)
            assert answer.status in (200, 400, 413), answer.body
            assert answer.status != 200 or answer.json["language"]["code"] == "ko-KR"


def test_a_real_process_answers_and_writes_no_text_down(tmp_path):
    """The app's pages, which switch on uvicorn's log of requests, are opened before the second check."""
    errors = tmp_path / "log"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "service", "serve", "--port", str(port)]
    with errors.open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    query = urlencode({"language": "ko", "text": "비밀이 만아요."})
    paths = [f"/v2/check?{query}", f"/?{urlencode({'sentence': '비밀이 만아요.'})}", f"/v2/check?{query}"]
    try:
        answers = [got(f"http://127.0.0.1:{port}{path}") for path in paths]
    finally:
        process.terminate()
        process.wait(60)
    assert answers[0] == answers[2] and json.loads(answers[0])["matches"][0]["replacements"] == [
        {"value": "많아요"}
    ]
    assert b"<html" in answers[1]
    written = errors.read_text("utf-8")
    assert written.startswith("answers at ")
    assert not any(each in written for each in ("비밀", quote("비밀"), "GET", "matches"))


def test_a_folder_without_a_model_is_named_before_anything_starts(tmp_path):
    found = CliRunner().invoke(main, ["serve", "--model", str(tmp_path)])
    assert found.exit_code == 1 and found.stderr.startswith("Error: ") and str(tmp_path) in found.stderr


@pytest.mark.parametrize(
    ("host", "warns"),
    [("127.0.0.1", False), ("::1", False), ("localhost", False), ("0.0.0.0", True), ("class.example", True)],
)
def test_an_address_that_others_reach_is_opened_with_a_warning(monkeypatch, host, warns):
    asked = []
    monkeypatch.setattr("uvicorn.run", lambda app, **named: asked.append(named))
    found = CliRunner().invoke(main, ["serve", "--host", host])
    assert found.exit_code == 0 and found.stderr.startswith("warning: ") == warns
    assert asked[0]["host"] == host and not asked[0]["access_log"] and not asked[0]["proxy_headers"]


def got(url: str) -> bytes:
    for _ in range(600):
        try:
            with urllib.request.urlopen(url, timeout=120) as answer:
                return answer.read()
        except ConnectionError:
            time.sleep(0.1)
        except urllib.error.URLError as error:
            if not isinstance(error.reason, ConnectionError):
                raise
            time.sleep(0.1)
    raise TimeoutError(url)
