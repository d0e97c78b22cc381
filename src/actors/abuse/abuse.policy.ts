// Who may read and write messages about a report. Pure.

import { DomainError } from '../runtime/index.ts'
import type { Viewer } from '../session/index.ts'
import { hasRight } from '../user/index.ts'

export interface GuardedAbuse {
  id: number
  /** Null if the reporter is removed. */
  reporterId: number | null
  /** Reported by another server. */
  isRemote: boolean
}

/** Throws `forbidden` unless `by` is the reporter or a moderator, and `invalid` if nobody could answer. */
export function assertMayDiscuss(abuse: GuardedAbuse, by: NonNullable<Viewer>): void {
  if (!isReporter(abuse, by) && !hasRight(by.role, 'MANAGE_ABUSES')) {
    throw new DomainError('forbidden', `You may not read the messages about the report ${abuse.id}.`)
  }
  if (abuse.isRemote) throw new DomainError('invalid', 'This report came from another server, which gets no messages.')
}

/** Throws `forbidden` unless `by` wrote the message or is a moderator. */
export function assertMayRemoveMessage(message: { accountId: number | null }, by: NonNullable<Viewer>): void {
  if (message.accountId === by.accountId || hasRight(by.role, 'MANAGE_ABUSES')) return
  throw new DomainError('forbidden', 'You may not remove the message of another user.')
}

export const isReporter = (abuse: GuardedAbuse, by: NonNullable<Viewer>): boolean => abuse.reporterId === by.accountId
