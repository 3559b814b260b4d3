-- One row to write when somebody asks whether the storage can be written.

CREATE TABLE health (
    id   BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    beat BIGINT NOT NULL
);

INSERT INTO health (id, beat) VALUES (1, 0);
