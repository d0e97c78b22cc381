// Log lines for `/server/logs` and `/server/audit-logs`, and a client's report as a local line.

import { type AuditRow, PREFIXES } from '../../actors/audit/index.ts'
import type { LogLine } from '../../platform/log-files/index.ts'
import { redactSecrets } from '../../platform/redact.ts'
import { anonymizeIp } from '../plugins/request-log.ts'
import type { ClientLog, LogLineView } from './schemas.ts'

/** `label` names the server. */
export function toLogLineView({ rest, tags, level, message, time }: LogLine, label: string): LogLineView {
  return { ...rest, ...(tags.length > 0 ? { tags: [...tags] } : {}), level, message, label, timestamp: stamp(time) }
}

const LONGEST_MESSAGE = 1000

export const toLogHeadView = ({ level, message, timestamp }: LogLineView) => ({
  level,
  message: message.slice(0, LONGEST_MESSAGE),
  timestamp,
})

/** The message is JSON: the user, the action, and the fields of the entity; changed values begin with `new-`. */
export function toAuditLineView({ at, username, role, domain, action, entity, changes }: AuditRow, label: string): LogLineView {
  const prefix = PREFIXES[domain]
  const before = flat(entity, prefix)
  const after = Object.entries(changes ?? {}).flatMap(([field, value]) => {
    const now = flat({ [field]: value }, prefix)
    const was = field in entity ? Object.keys(flat({ [field]: entity[field] }, prefix)) : []
    const gone = was.filter((key) => !(key in now)).map((key): [string, unknown] => [key, null])
    return [...Object.entries(now), ...gone].filter(([key, one]) => JSON.stringify(one) !== JSON.stringify(before[key]))
  })
  const message = {
    user: username,
    role: ROLES[role],
    domain,
    action,
    ...before,
    ...Object.fromEntries(after.map(([key, value]) => [`new-${key}`, value])),
  }
  // Users' texts may contain addresses with secrets.
  return { level: 'audit', message: redactSecrets(JSON.stringify(message)), label, timestamp: stamp(at.getTime()) }
}

const ROLES = ['Administrator', 'Moderator', 'User']

/** A client's report, truncated: anybody can send any text. */
export function clientLine(log: ClientLog, by: { userId: number | undefined; ip: string; anonymize: boolean }) {
  return {
    message: `Client log: ${plain(log.message, 1000)}`,
    details: {
      url: plain(log.url, 2000),
      stackTrace: plain(log.stackTrace, MOST),
      userAgent: plain(log.userAgent, 200),
      meta: plain(log.meta, MOST),
      userId: by.userId,
      ip: by.anonymize ? anonymizeIp(by.ip) : by.ip,
    },
  }
}

const MOST = 5000

/** Without characters that move the cursor or hide text in a terminal. */
function plain<T extends string | undefined>(text: T, longest: number): T | string {
  return text?.slice(0, longest).replace(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}]/gu, '') ?? text
}

const stamp = (time: number): string => new Date(time).toISOString()

/** Nested objects become prefixes of the names, lists stay. */
function flat(value: Record<string, unknown>, prefix: string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => {
      const name = `${prefix}-${key}`
      return isSection(inner) ? Object.entries(flat(inner, name)) : [[name, inner]]
    }),
  )
}

const isSection = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
