// Compares the clock with those of the database and of the own public address. Signatures with a date that is far off are refused.

import { type Check, DATABASE_LIMIT, type Say } from './check.ts'

/** Ms. A Date header has no fractions of a second. */
const NOTABLE = 5_000
const TOO_MUCH = 60_000

export const clockCheck: Check = {
  name: 'clock',
  limit: DATABASE_LIMIT,
  async run(patient, say, signal) {
    const compared = await Promise.all([
      ofDatabase(patient).catch(() => undefined),
      ofPublicAddress(patient.loaded.publicUrl, signal).catch(() => undefined),
    ])
    const found = compared.filter((one) => one !== undefined)
    for (const one of found) tell(one, say)
    if (found.length === 0) say.warning('Nothing is available to compare the clock with.', 'See the other findings.')
  },
}

interface Compared {
  with: 'database' | 'public address'
  /** Ms. */
  offset: number
}

async function ofDatabase({ database }: Parameters<Check['run']>[0]): Promise<Compared | undefined> {
  const opened = await database()
  const asked = Date.now()
  const [row] = await opened.query<{ now: number }>('select extract(epoch from clock_timestamp())::float8 * 1000 as now')
  if (!row) return undefined
  return { with: 'database', offset: row.now - (asked + Date.now()) / 2 }
}

async function ofPublicAddress(publicUrl: string, signal: AbortSignal): Promise<Compared | undefined> {
  const asked = Date.now()
  const answer = await fetch(new URL('/api/v1/ping', publicUrl), { signal, redirect: 'manual' })
  await answer.body?.cancel()
  const date = Date.parse(answer.headers.get('date') ?? '')
  if (Number.isNaN(date)) return undefined
  return { with: 'public address', offset: date + 500 - (asked + Date.now()) / 2 }
}

function tell({ with: other, offset }: Compared, say: Say): void {
  const off = Math.abs(offset)
  const seconds = (off / 1000).toFixed(1)
  const [text, agrees] =
    other === 'database'
      ? [`The clock differs by ${seconds} s from that of the database.`, 'The clock agrees with that of the database.']
      : [`The clock differs by ${seconds} s from that of the public address.`, 'The clock agrees with that of the public address.']
  const advice = 'Let every machine take its time from the network (chrony, systemd-timesyncd).'
  if (off > TOO_MUCH) say.problem(text, advice)
  else if (off > NOTABLE) say.warning(text, advice)
  else say.ok(agrees)
}
