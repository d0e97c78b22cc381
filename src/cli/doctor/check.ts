// Checks of the doctor, and how they run: all at once, each with a time limit, independent of the others.

import type { Config, LoadedConfig } from '../../config/index.ts'

export type Status = 'ok' | 'warning' | 'problem'

export interface Finding {
  check: string
  status: Status
  /** One sentence: the finding. */
  message: string
  /** One sentence: the advice. */
  advice?: string
}

export interface DoctorDatabase {
  query<R extends object>(text: string, values?: readonly unknown[]): Promise<R[]>
  /** True if a prepared statement survives the use of the connection by another client. */
  keepsStatements(): Promise<boolean>
}

export interface Patient {
  loaded: LoadedConfig
  /** The configuration with what administrators changed at runtime, as far as the database can be read. */
  current: () => Promise<Config>
  env: Record<string, string | undefined>
  /** The database, opened once for all checks. Throws if it cannot be opened. */
  database: () => Promise<DoctorDatabase>
  /** Recipient of a test mail; by default none is sent. */
  sendMailTo?: string
}

/** Returns its finding; `add` reports further findings while it runs. */
export interface Check {
  name: string
  /** Ms. */
  limit: number
  run(patient: Patient, say: Say, signal: AbortSignal): Promise<void>
}

export interface Say {
  ok(message: string): void
  warning(message: string, advice: string): void
  problem(message: string, advice: string): void
}

/** Usual limit in ms. */
export const USUAL_LIMIT = 8_000
/** Ms. The embedded PostgreSQL may have to start first. */
export const DATABASE_LIMIT = 30_000

/** The findings in the order of the checks. Never throws. */
export async function runChecks(checks: readonly Check[], patient: Patient): Promise<Finding[]> {
  return (await Promise.all(checks.map((check) => runCheck(check, patient)))).flat()
}

async function runCheck({ name, limit, run }: Check, patient: Patient): Promise<Finding[]> {
  const findings: Finding[] = []
  const over = new AbortController()
  const add = (status: Status) => (message: string, advice?: string) => {
    // A result after the timeout was reported as a timeout.
    if (!over.signal.aborted) findings.push({ check: name, status, message, ...(advice ? { advice } : {}) })
  }
  const say: Say = { ok: add('ok'), warning: add('warning'), problem: add('problem') }
  let timer: NodeJS.Timeout | undefined
  const end = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), limit)
  })
  try {
    if ((await Promise.race([run(patient, say, over.signal), end])) === 'late') {
      say.problem(`No answer within ${limit / 1000} s.`, 'See whether it is overloaded or cut off, then look again.')
    }
  } catch (error) {
    say.problem(sentence(error), 'See the message, and look again.')
  } finally {
    clearTimeout(timer)
    over.abort()
  }
  return findings
}

/** The first line of an error, as a sentence. */
export function sentence(error: unknown): string {
  const causes = error instanceof Error && error.message === '' ? error.cause : error
  const text = causes instanceof Error ? causes.message || causes.name : String(causes)
  const [line = ''] = text.trim().split('\n', 1)
  return /[.!?]$/.test(line) ? line : `${line}.`
}
