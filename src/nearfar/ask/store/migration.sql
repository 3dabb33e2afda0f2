-- Makes tables of the version before those of this one; tables.sql adds what is new altogether.
ALTER TABLE question ADD COLUMN condition TEXT NOT NULL DEFAULT '';
ALTER TABLE participant ADD COLUMN condition TEXT NOT NULL DEFAULT '';
ALTER TABLE answer ADD COLUMN replays {whole};
ALTER TABLE answer ADD COLUMN early {whole};
DROP INDEX question_by_load;
DROP INDEX IF EXISTS participant_by_seen;
UPDATE study SET version = {version} WHERE id = 1;
