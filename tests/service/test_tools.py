"""Tools of the Model Context Protocol, called by the SDK's own client."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from service.tools import tool_server
from tests.service.conftest import WRONG

ROOT = Path(__file__).parents[2]


def ask(server, name: str, **arguments):
    """The structured answer of a tool."""

    async def run():
        async with Client(server) as client:
            return await client.call_tool(name, arguments)

    with ThreadPoolExecutor(1) as thread:  # a browser's test leaves a loop in this one
        return thread.submit(anyio.run, run).result()


@pytest.fixture(scope="session")
def server(corrector):
    return tool_server(lambda: corrector)


def test_a_text_is_corrected_with_its_reasons(server, corrector):
    found = ask(server, "correct", text=WRONG).structured_content
    assert found["text"] == corrector.correct(WRONG).text
    sure = [each for each in found["changes"] if each["is_sure"]]
    assert [each["right"] for each in sure] == ["할 수 있는", "먹어요", "며칠"]
    for each in found["changes"]:
        assert WRONG[each["start"] : each["end"]] == each["wrong"] and each["reason"]


def test_each_claim_of_an_explanation_has_both_measurements(server):
    found = ask(server, "explain", text="밥을 머거요.", language="en").structured_content
    assert found["change"]["right"] == "먹어요" and tuple(found["alternatives"]) == ("먹", "머")
    assert found["score"] > 0 and any(claim["holds"] for claim in found["claims"])
    for claim in found["claims"]:
        assert claim["claim"] and claim["unit"] in ("score", "look") and claim["facts"] is not None


def test_a_change_that_the_text_does_not_have_is_named(server):
    found = ask(server, "explain", text="밥을 먹어요.", number=3)
    assert found.is_error and "received number 3" in found.content[0].text


def test_the_command_answers_over_standard_input_and_output():
    command = StdioServerParameters(command=sys.executable, args=["-m", "service", "mcp"], cwd=ROOT)
    assert ask(command, "correct", text="안되요.").structured_content["text"] == "안 돼요."
