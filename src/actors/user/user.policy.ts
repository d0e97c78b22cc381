// Roles and rights: what each role may do on this server, with the numbers that clients know, and who may create, change, block and remove
// whom. Pure.

import { DomainError } from '../runtime/index.ts'
import { type UserRole, userRoles } from './user.entity.ts'

const { administrator: ADMINISTRATOR, moderator: MODERATOR } = userRoles

export const userRights = {
  ALL: 0,
  MANAGE_USERS: 1,
  MANAGE_SERVER_FOLLOW: 2,
  MANAGE_LOGS: 3,
  MANAGE_DEBUG: 4,
  MANAGE_SERVER_REDUNDANCY: 5,
  MANAGE_ABUSES: 6,
  MANAGE_JOBS: 7,
  MANAGE_CONFIGURATION: 8,
  MANAGE_INSTANCE_CUSTOM_PAGE: 9,
  MANAGE_ACCOUNTS_BLOCKLIST: 10,
  MANAGE_SERVERS_BLOCKLIST: 11,
  MANAGE_VIDEO_BLACKLIST: 12,
  MANAGE_ANY_VIDEO_CHANNEL: 13,
  REMOVE_ANY_VIDEO: 14,
  REMOVE_ANY_VIDEO_PLAYLIST: 15,
  MANAGE_ANY_VIDEO_COMMENT: 16,
  UPDATE_ANY_VIDEO: 17,
  UPDATE_ANY_VIDEO_PLAYLIST: 18,
  GET_ANY_LIVE: 19,
  SEE_ALL_VIDEOS: 20,
  SEE_ALL_COMMENTS: 21,
  CHANGE_VIDEO_OWNERSHIP: 22,
  MANAGE_PLUGINS: 23,
  MANAGE_VIDEOS_REDUNDANCIES: 24,
  MANAGE_VIDEO_FILES: 25,
  RUN_VIDEO_TRANSCODING: 26,
  MANAGE_VIDEO_IMPORTS: 27,
  MANAGE_REGISTRATIONS: 28,
  MANAGE_RUNNERS: 29,
  MANAGE_USER_EXPORTS: 30,
  MANAGE_USER_IMPORTS: 31,
  MANAGE_INSTANCE_WATCHED_WORDS: 32,
  MANAGE_INSTANCE_AUTO_TAGS: 33,
} as const
export type UserRight = keyof typeof userRights

const MODERATOR_RIGHTS: ReadonlySet<UserRight> = new Set<UserRight>([
  'MANAGE_VIDEO_BLACKLIST',
  'MANAGE_ABUSES',
  'MANAGE_ANY_VIDEO_CHANNEL',
  'REMOVE_ANY_VIDEO',
  'REMOVE_ANY_VIDEO_PLAYLIST',
  'MANAGE_ANY_VIDEO_COMMENT',
  'UPDATE_ANY_VIDEO',
  'SEE_ALL_VIDEOS',
  'MANAGE_ACCOUNTS_BLOCKLIST',
  'MANAGE_SERVERS_BLOCKLIST',
  'MANAGE_USERS',
  'SEE_ALL_COMMENTS',
  'MANAGE_REGISTRATIONS',
  'MANAGE_INSTANCE_WATCHED_WORDS',
  'MANAGE_INSTANCE_AUTO_TAGS',
])

/** Administrators and moderators. */
export const isStaff = (role: UserRole): boolean => role <= MODERATOR

export const isAdministrator = (role: UserRole): boolean => role === ADMINISTRATOR

/** Administrators have every right, moderators a list, users none. */
export function hasRight(role: UserRole, right: UserRight): boolean {
  if (role === ADMINISTRATOR) return true
  return role === MODERATOR && MODERATOR_RIGHTS.has(right)
}

/** The acting user. */
export interface Manager {
  id: number
  role: UserRole
}

/** The properties of a user that decide who may act on it. */
export interface ManagedUser {
  username: string
  role: UserRole
}

/** The first administrator, who cannot be demoted, blocked or removed, so that there always is one. */
export const ROOT = 'root'

/** Throws `forbidden`: only an administrator creates administrators and moderators. */
export function assertMayCreate(by: Manager, role: UserRole): void {
  assertMayGrant(by, role, 'Only administrators create administrators and moderators.')
}

/** Throws `invalid` for another role of root, `forbidden` if the user or the role is above the requester. */
export function assertMayUpdate(by: Manager, user: ManagedUser, role: UserRole | undefined): void {
  const hasNewRole = role !== undefined && role !== user.role
  if (hasNewRole) refuseRoot(user, 'Cannot change root role.')
  assertManages(by, user)
  if (hasNewRole) assertMayGrant(by, role, 'Only administrators make others administrators and moderators.')
}

/** Throws `invalid` for root, `forbidden` for users whom `by` does not manage. */
export function assertMayBlock(by: Manager, user: ManagedUser): void {
  refuseRoot(user, 'Cannot block the root user')
  assertManages(by, user)
}

/** Throws `invalid` for root, `forbidden` for users whom `by` does not manage. */
export function assertMayRemove(by: Manager, user: ManagedUser): void {
  refuseRoot(user, 'Cannot remove the root user')
  assertManages(by, user)
}

/** Everybody may leave, whatever the role. Throws `invalid` for root. */
export function assertMayLeave(user: ManagedUser): void {
  refuseRoot(user, 'You cannot delete your root account.')
}

/** Administrators manage everybody, moderators plain users. */
function assertManages(by: Manager, user: ManagedUser): void {
  if (isAdministrator(by.role) || (hasRight(by.role, 'MANAGE_USERS') && !isStaff(user.role))) return
  throw new DomainError('forbidden', 'Moderators and administrators are managed by administrators only.')
}

/** Moderators do not manage moderators, so they create none either. */
function assertMayGrant(by: Manager, role: UserRole, refusal: string): void {
  if (isAdministrator(by.role) || !isStaff(role)) return
  throw new DomainError('forbidden', refusal)
}

function refuseRoot(user: ManagedUser, refusal: string): void {
  if (user.username === ROOT) throw new DomainError('invalid', refusal)
}
