// Indexes of tables that may be large: made while the server of the version before goes on writing to them. Only outside a
// transaction, so that every statement of such a migration may run twice.

/** SQL for these indexes; `on` is what follows `on`, by name. */
export const concurrently = (indexes: Readonly<Record<string, string>>): string[] =>
  Object.entries(indexes).flatMap(([name, on]) => [
    // One that was not finished stays behind, invalid.
    `drop index concurrently if exists ${name}`,
    `create index concurrently ${name} on ${on}`,
  ])
