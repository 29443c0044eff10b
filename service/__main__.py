"""Commands ``serve``, which runs the service for editors, and ``check``, which checks files."""

import ipaddress

import click

from model.stored.folder import DEFAULT_MODEL
from model.terminal import hide_log_lines


@click.group()
def main() -> None:
    """Check Korean where people write it: in editors, and in the files of a repository."""


@main.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address that it listens on.")
@click.option("--port", default=8081, show_default=True, type=click.IntRange(0, 65_535))
@click.option("--model", default=DEFAULT_MODEL, show_default=True, help="A folder in assets/, or a path.")
@click.option(
    "--links", help="The page that opens a change: an app, or the browser's own page with # at its end."
)
@click.option("--allow-host", "hosts", multiple=True, help="A name under which this machine is asked.")
@click.option(
    "--allow-origin", "origins", multiple=True, help="A site whose pages may ask: https://example.org"
)
def serve(
    host: str, port: int, model: str, links: str | None, hosts: tuple[str, ...], origins: tuple[str, ...]
) -> None:
    """Answer LanguageTool's HTTP API at http://127.0.0.1:8081/v2 until Ctrl-C.

    Nothing is logged or stored. Each match links to the page that shows its cause, which is served from here,
    too; it starts with the first visit.
    """
    import uvicorn

    from service.checker import KeepingCorrector
    from service.languagetool import app_link
    from service.server import AppOnDemand, Guard, Service, application

    if host != "localhost" and not ipaddress.ip_address(host).is_loopback:
        click.echo(f"warning: everybody who reaches {host} can ask, and texts travel unencrypted", err=True)
    here = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    service = Service(lambda: KeepingCorrector.load(model), app_link(links or f"{here}/"))
    guard = Guard(frozenset(map(str.lower, hosts)), frozenset(origins))
    pages = AppOnDemand() if links is None else None
    click.echo(f"answers at {here}/v2 (LanguageTool's HTTP API); Ctrl-C ends it")
    uvicorn.run(
        application(service, guard, pages),
        host=host,
        port=port,
        access_log=False,
        log_level="warning",
        proxy_headers=False,
        server_header=False,
    )


if __name__ == "__main__":
    hide_log_lines()
    main(prog_name="python -m service")
