"""The tables, what an operation sees of them, and what callers see of a store: the same for SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

Row = tuple[Any, ...]
Result = TypeVar("Result")
Operation = Callable[..., Result]

VERSION = 3
# makes tables of the version before those of this one; TABLES adds what is new altogether
MIGRATION = f"""
ALTER TABLE question ADD COLUMN condition TEXT NOT NULL DEFAULT '';
ALTER TABLE participant ADD COLUMN condition TEXT NOT NULL DEFAULT '';
ALTER TABLE answer ADD COLUMN replays {{whole}};
ALTER TABLE answer ADD COLUMN early {{whole}};
DROP INDEX question_by_load;
DROP INDEX IF EXISTS participant_by_seen;
UPDATE study SET version = {VERSION} WHERE id = 1;
"""
# a.id: is answered
SLOTS = "slot s LEFT JOIN answer a ON a.participant = s.participant AND a.place = s.place"
# {...} stands for what SQLite and PostgreSQL call differently.
# question.load counts the "new" places that are answered or still held by somebody, question.done those answered. answer.choice holds the positions
# chosen on the screen, none for "cannot tell"; early counts presses before the least time. form.page is "before", "practice", "after" or "calibration",
# form.fields what was given there, as JSON. slot.role is "open" for a place whose question is not chosen yet. model.answers counts the answers it is made
# of, which used names; choice has what models chose, and why; its question is set when somebody gets it. participant.name is what exports call a person, outside is the recruiter's id of them.
TABLES = """
CREATE TABLE IF NOT EXISTS study (
  id {whole} PRIMARY KEY, version {whole} NOT NULL, toml TEXT NOT NULL, fingerprint TEXT NOT NULL, kind TEXT NOT NULL,
  pick {whole} NOT NULL, state TEXT NOT NULL, password TEXT NOT NULL, secret TEXT NOT NULL,
  created {real} NOT NULL);
CREATE TABLE IF NOT EXISTS object (
  id {whole} PRIMARY KEY, name TEXT NOT NULL, display_name TEXT NOT NULL, picture TEXT);
CREATE TABLE IF NOT EXISTS picture (hash TEXT PRIMARY KEY, media TEXT NOT NULL, data {bytes} NOT NULL);
CREATE TABLE IF NOT EXISTS question (
  id {whole} PRIMARY KEY, items TEXT NOT NULL, trio TEXT NOT NULL, source TEXT NOT NULL,
  load {whole} NOT NULL DEFAULT 0, done {whole} NOT NULL DEFAULT 0, shuffle {real} NOT NULL,
  condition TEXT NOT NULL DEFAULT '');
CREATE TABLE IF NOT EXISTS participant (
  id {key}, name TEXT NOT NULL UNIQUE, outside TEXT UNIQUE, details TEXT NOT NULL, consent {real} NOT NULL,
  seen {real} NOT NULL, state TEXT NOT NULL, code TEXT, finished {real}, condition TEXT NOT NULL DEFAULT '');
CREATE TABLE IF NOT EXISTS token (
  hash TEXT PRIMARY KEY, participant {whole} NOT NULL REFERENCES participant (id));
CREATE TABLE IF NOT EXISTS slot (
  participant {whole} NOT NULL REFERENCES participant (id), place {whole} NOT NULL,
  question {whole} REFERENCES question (id), role TEXT NOT NULL, shown TEXT NOT NULL, released {real},
  PRIMARY KEY (participant, place));
CREATE TABLE IF NOT EXISTS answer (
  participant {whole} NOT NULL, place {whole} NOT NULL, id TEXT NOT NULL UNIQUE, choice TEXT NOT NULL,
  milliseconds {real}, away {real}, shown_at {real}, received {real} NOT NULL,
  replays {whole}, early {whole}, PRIMARY KEY (participant, place),
  FOREIGN KEY (participant, place) REFERENCES slot (participant, place));
CREATE TABLE IF NOT EXISTS form (
  participant {whole} NOT NULL REFERENCES participant (id), page TEXT NOT NULL, at {real} NOT NULL, fields TEXT NOT NULL,
  PRIMARY KEY (participant, page));
CREATE TABLE IF NOT EXISTS event (
  id {key}, at {real} NOT NULL, participant {whole} REFERENCES participant (id), kind TEXT NOT NULL,
  detail TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS model (
  id {whole} PRIMARY KEY, at {real} NOT NULL, seed {whole} NOT NULL, answers {whole} NOT NULL, total {whole} NOT NULL,
  wanted {whole} NOT NULL);
CREATE TABLE IF NOT EXISTS used (
  participant {whole} NOT NULL, place {whole} NOT NULL, model {whole} NOT NULL, PRIMARY KEY (participant, place));
CREATE TABLE IF NOT EXISTS choice (
  id {key}, model {whole} NOT NULL, items TEXT NOT NULL, trio TEXT NOT NULL, score {real} NOT NULL, probability {real} NOT NULL,
  question {whole});
CREATE TABLE IF NOT EXISTS session (hash TEXT PRIMARY KEY, expires {real} NOT NULL);
CREATE TABLE IF NOT EXISTS view (id {whole} PRIMARY KEY, made {real} NOT NULL, json TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS export (path TEXT PRIMARY KEY);
CREATE INDEX IF NOT EXISTS question_by_load ON question (condition, load, done, shuffle);
CREATE INDEX IF NOT EXISTS choice_by_question ON choice (question, id);
CREATE INDEX IF NOT EXISTS answer_by_time ON answer (received);
CREATE INDEX IF NOT EXISTS token_by_participant ON token (participant);
CREATE INDEX IF NOT EXISTS event_by_participant ON event (participant);
CREATE INDEX IF NOT EXISTS event_by_kind ON event (kind, at);
"""


@dataclass(frozen=True)
class Transaction:
    """A transaction that is under way; whoever runs the operation commits it.

    cursor : of the database. mark : how it writes a value in SQL; operations write ``?``. drawing : what lets nobody
    else draw or release questions until the transaction ends; nothing where there is one writer only.
    """

    cursor: Any
    mark: str = "?"
    drawing: str = ""

    def run(self, sql: str, *values: Any) -> Any:
        """Run one statement; the cursor."""
        return self.cursor.execute(sql.replace("?", self.mark), values)

    def rows(self, sql: str, *values: Any) -> list[Row]:
        """Run one statement and fetch what it returns."""
        fetched: list[Row] = self.run(sql, *values).fetchall()
        return fetched

    def run_many(self, sql: str, values: Sequence[Sequence[Any]]) -> None:
        """Run one statement for each row of values."""
        self.cursor.executemany(sql.replace("?", self.mark), values)

    def insert(self, table: str, **values: Any) -> bool:
        """Insert a row; False where one with its key is there already."""
        columns, marks = ", ".join(values), ", ".join("?" * len(values))
        sql = f"INSERT INTO {table} ({columns}) VALUES ({marks}) ON CONFLICT DO NOTHING"
        return bool(self.run(sql, *values.values()).rowcount > 0)

    def lock_drawing(self) -> None:
        """Be the only one who draws or releases questions until the transaction ends."""
        if self.drawing:
            self.cursor.execute(self.drawing)


class Store(ABC):
    """A database. ``write`` returns only after the operation is on disk; ``threads`` run what would block."""

    url: str
    threads: ThreadPoolExecutor
    _closed = False

    async def write(self, operation: Operation[Result], *arguments: Any) -> Result:
        """Run an operation in a transaction and wait until it is committed."""
        return await self._in_thread(self.write_now, operation, *arguments)

    async def read(self, operation: Operation[Result], *arguments: Any) -> Result:
        """Run an operation that changes nothing."""
        return await self._in_thread(self.read_now, operation, *arguments)

    def _in_thread(self, function: Callable[..., Result], *arguments: Any) -> asyncio.Future[Result]:
        return asyncio.get_running_loop().run_in_executor(self.threads, function, *arguments)

    @abstractmethod
    def write_now(self, operation: Operation[Result], *arguments: Any) -> Result:
        """The same as ``write``, for callers without an event loop."""

    def read_now(self, operation: Operation[Result], *arguments: Any) -> Result:
        """The same as ``read``, for callers without an event loop."""
        return self.write_now(operation, *arguments)

    @abstractmethod
    def lead(self) -> bool:
        """Whether this process is the one that computes the live view."""

    @abstractmethod
    def forget(self) -> None:
        """Overwrite what was deleted, so that no trace of it stays in the files."""

    def close(self) -> None:
        """Finish what is under way and let go of the database; a second time does nothing."""
        if not self._closed:
            self._closed = True
            self._let_go()

    @abstractmethod
    def _let_go(self) -> None:
        """Finish and let go, once."""
