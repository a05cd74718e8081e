"""The way through the workbench in a browser, screen by screen, for tests and for pictures."""

from __future__ import annotations

from browser import Browser


def begin_ledger(browser: Browser, dataset: str, *, epsilon: str = "12") -> None:
    """From the first page of an empty folder."""
    browser.wait_for("Next: Begin a ledger")
    browser.find(".alert a").click()
    browser.type("#dataset", dataset)
    browser.type("#epsilon", epsilon)
    browser.type("#by", "Ann")
    browser.click("Begin the ledger")
    browser.wait_for(f"0 of {epsilon}")


def write_plan(browser: Browser, name: str) -> None:
    """From the plan screen, as it is, to the page that approves."""
    browser.type("#name", name)
    browser.click("Write the plan and ask for approval")
    browser.wait_for("What must be true")


def approve(browser: Browser) -> None:
    """From the page that approves to the one that publishes."""
    for box in browser.find_all("input[name=assumption]"):
        box.click()
    browser.type("#by", "Ito")
    browser.find("button[value=approved]").click()
    browser.wait_for("What will be charged")


def confirm(browser: Browser, dataset: str, **fields: str) -> None:
    """Fill in the page that publishes, by the ids of its fields."""
    for name, text in fields.items():
        browser.type(f"#{name}", text)
    browser.type("#dataset", dataset)


def publish(browser: Browser) -> None:
    """Send it."""
    browser.find("main form button.main").click()
