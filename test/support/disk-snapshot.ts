// A snapshot of a database and a folder that can be restored, so that ffmpeg runs once for many tests.

import { randomBytes } from 'node:crypto'
import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run, type TestDatabase } from './postgres.ts'

export interface DiskSnapshot {
  /** Nothing may use the disk meanwhile. */
  restore(): Promise<void>
  drop(): Promise<void>
}

export async function takeSnapshot(disk: { database: TestDatabase; folder: string }): Promise<DiskSnapshot> {
  const { url } = disk.database
  const schema = `snapshot_${randomBytes(4).toString('hex')}`
  const copy = await mkdtemp(join(tmpdir(), 'vireo-snapshot-'))
  await cp(disk.folder, copy, { recursive: true })
  await run(url, copyTables(schema))

  return {
    async restore() {
      await run(url, restoreTables(schema))
      for (const name of await readdir(disk.folder)) await rm(join(disk.folder, name), { recursive: true, force: true })
      await mkdir(disk.folder, { recursive: true })
      await cp(copy, disk.folder, { recursive: true })
    },
    async drop() {
      await run(url, `drop schema ${schema} cascade`)
      await rm(copy, { recursive: true, force: true })
    },
  }
}

const TABLES = `select table_name as name from information_schema.tables
  where table_schema = 'public' and table_type = 'BASE TABLE'`

const copyTables = (schema: string): string => `
  create schema ${schema};
  do $$ declare t text; is_empty boolean; begin
    for t in ${TABLES} loop
      execute format('select not exists (select from %I)', t) into is_empty;
      if not is_empty then execute format('create table ${schema}.%I as table %I', t, t); end if;
    end loop;
  end $$`

// Triggers and foreign keys are off, so the order of the rows does not matter.
const restoreTables = (schema: string): string => `
  set session_replication_role = replica;
  do $$ declare t text; columns text; begin
    for t in ${TABLES} loop
      execute format('delete from %I', t);
      if to_regclass(format('${schema}.%I', t)) is null then continue; end if;
      select string_agg(quote_ident(column_name), ', ') into columns from information_schema.columns
        where table_schema = 'public' and table_name = t and is_generated = 'NEVER';
      execute format('insert into %I (%s) overriding system value select %s from ${schema}.%I', t, columns, columns, t);
    end loop;
  end $$`
