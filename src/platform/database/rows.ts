// Types of the rows of plain SQL, derived from the entities that describe the tables (ADR 0016).

import type { EntitySchema, InferEntity, Opt } from '@mikro-orm/postgresql'

/** The entity of a class, or of a schema without one (`typeof VideoDelta`). */
type Entity<E> = E extends EntitySchema ? InferEntity<E> : E
type Property<E> = Extract<keyof Entity<E>, string>

type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : ''
/** The value of the driver: never undefined, and bytes as a Buffer. */
type Stored<Value> = Value extends undefined ? never : Value extends Uint8Array ? Buffer : Value extends Opt<infer Plain> ? Plain : Value

/** The columns of these properties, under their names in the table: `select account_id`. */
export type Columns<E, P extends Property<E>> = { [K in P as SnakeCase<K>]: Stored<Entity<E>[K]> }

/** The columns of these properties, under the names of the properties: `select account_id as "accountId"`. */
export type Aliased<E, P extends Property<E>> = { [K in P]: Stored<Entity<E>[K]> }

/** Columns on the optional side of an outer join. */
export type Nullable<Row> = { [C in keyof Row]: Row[C] | null }

/** Columns inside a JSON value, where times are strings. */
export type InJson<Row> = { [C in keyof Row]: Row[C] extends Date ? string : Row[C] extends Date | null ? string | null : Row[C] }

/** Columns that some statements return as such, others inside a JSON value. */
export type MaybeInJson<Row> = { [C in keyof Row]: Row[C] | InJson<Row>[C] }
