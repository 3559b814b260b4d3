-- One row to write when somebody asks whether the storage can be written.

CREATE TABLE health (
    id   INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    beat INTEGER NOT NULL
) STRICT;

INSERT INTO health (id, beat) VALUES (1, 0);
