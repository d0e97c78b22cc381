// Ids of Engine.IO sessions: each contains the process that began it, and is unforgeable.

import { timingSafeEqual } from 'node:crypto'
import { randomToken } from '../../platform/ids.ts'
import type { Secrets } from '../../platform/secrets.ts'

export type SessionIds = ReturnType<typeof makeSessionIds>

const NAME_BYTES = 6
const RANDOM_BYTES = 16
const NAME_LENGTH = 2 * NAME_BYTES
const SIGNED_LENGTH = NAME_LENGTH + 2 * RANDOM_BYTES
const SIGNATURE_LENGTH = 20

export function makeSessionIds({ secrets }: { secrets: Pick<Secrets, 'hmac'> }) {
  const name = randomToken(NAME_BYTES)
  const signatureOf = (text: string) => secrets.hmac('socket-session', text).slice(0, SIGNATURE_LENGTH)
  return {
    /** The name of this process for others. */
    name,
    make() {
      const text = `${name}${randomToken(RANDOM_BYTES)}`
      return `${text}${signatureOf(text)}`
    },
    /** The process that began the session; undefined if no process of this server made the id. */
    processOf(sid: string): string | undefined {
      if (sid.length !== SIGNED_LENGTH + SIGNATURE_LENGTH || !/^[0-9a-f]+$/.test(sid)) return undefined
      const text = sid.slice(0, SIGNED_LENGTH)
      const isSigned = timingSafeEqual(Buffer.from(sid.slice(SIGNED_LENGTH)), Buffer.from(signatureOf(text)))
      return isSigned ? text.slice(0, NAME_LENGTH) : undefined
    },
  }
}
