// What a check of the doctor is, and how they are run: all at once, each for a limited time, whatever becomes of the others.

import type { LoadedConfig } from '../../config/index.ts'

export type Status = 'ok' | 'warning' | 'problem'

export interface Finding {
  check: string
  status: Status
  /** One sentence: what was found. */
  message: string
  /** One sentence: what to do about it. */
  advice?: string
}

export interface DoctorDatabase {
  query<R extends object>(text: string, values?: readonly unknown[]): Promise<R[]>
  /** Whether a prepared statement can be used again when somebody else has had the connection to the server meanwhile. */
  keepsStatements(): Promise<boolean>
}

export interface Patient {
  loaded: LoadedConfig
  env: Record<string, string | undefined>
  /** The database, opened once for all checks. Throws when it cannot be had. */
  database: () => Promise<DoctorDatabase>
  /** Who gets a mail; nobody when left out. */
  sendMailTo?: string
}

/** Says what it finds; `add` tells the rest of what was found while it goes on. */
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

/** Ms that most checks have. */
export const USUAL_LIMIT = 8_000

/** The findings in the order of the checks. Never throws. */
export async function runChecks(checks: readonly Check[], patient: Patient): Promise<Finding[]> {
  return (await Promise.all(checks.map((check) => runCheck(check, patient)))).flat()
}

async function runCheck({ name, limit, run }: Check, patient: Patient): Promise<Finding[]> {
  const findings: Finding[] = []
  const over = new AbortController()
  const add = (status: Status) => (message: string, advice?: string) => {
    // What comes after the end of its time was told as that.
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
