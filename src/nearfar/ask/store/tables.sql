-- The tables of a study. Words in braces stand for what SQLite and PostgreSQL call differently.
-- answer.choice: positions chosen on the screen, none for "cannot tell"; early counts presses before the least time.
-- choice: what models chose, and why; question is set when somebody gets it.
-- form.page: "before", "practice", "after" or "calibration"; fields: what was given there, as JSON.
-- model.answers: how many answers it is made of; used says which.
-- participant.name: what exports call a person; outside: the recruiter's id of them.
-- question.load: "new" places that are answered or still held by somebody; done: those answered.
-- slot.role: "open" for a place whose question is not chosen yet.
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
