// What another system says about somebody, and what that means here. Pure.

import { parseSize } from '../../config/index.ts'
import { canonicalAddress, isMailAddress, LONGEST_ADDRESS } from '../../platform/mail-address.ts'
import { isReadable } from '../../platform/readable.ts'
import { type UserRole, userRoles } from '../user/index.ts'

export interface Claims {
  /** The id that never changes there. */
  subject: string
  username: string
  email: string | null
  /** True if that system has verified the address, or is trusted to have. */
  emailVerified: boolean
  displayName: string | null
  /** Null if that system does not say, which is not the same as none. */
  groups: readonly string[] | null
  /** Bytes; null if that system does not say. */
  quota: number | null
}

/** The settings that both kinds of providers have. */
export interface ProviderRules {
  link_by_email: boolean
  trust_email: boolean
  allowed_groups: readonly string[]
  administrator_groups: readonly string[]
  moderator_groups: readonly string[]
}

const LONGEST_NAME = 50
const LONGEST_DISPLAY_NAME = 120
const LONGEST_SUBJECT = 500
const MAX_GROUPS = 1000

/** Reads claims or attributes. Undefined without an id. `values` are texts, numbers, or lists of texts, as the provider sends them. */
export function readClaims(
  values: { subject: unknown; username: unknown; email: unknown; displayName: unknown; groups: unknown; quota: unknown },
  isVerified: boolean,
): Claims | undefined {
  const subject = textOf(values.subject)
  if (subject === undefined || subject.length > LONGEST_SUBJECT) return undefined
  const email = textOf(values.email) ?? ''
  const displayName = textOf(values.displayName)?.trim().slice(0, LONGEST_DISPLAY_NAME).toWellFormed()
  const quota = typeof values.quota === 'boolean' ? null : parseSize([values.quota].flat()[0])
  return {
    subject,
    username: toLocalName(textOf(values.username) ?? ''),
    email: isMailAddress(email) && email.length <= LONGEST_ADDRESS ? canonicalAddress(email) : null,
    emailVerified: isVerified,
    displayName: displayName && isReadable(displayName) ? displayName : null,
    groups: (values.groups ?? null) === null ? null : listOf(values.groups),
    quota: quota !== null && Number.isSafeInteger(quota) ? quota : null,
  }
}

const listOf = (value: unknown): string[] =>
  [value]
    .flat()
    .filter((item) => typeof item === 'string')
    .slice(0, MAX_GROUPS)

/** A name that users may have here. */
function toLocalName(text: string): string {
  const [name = ''] = text.toLowerCase().split('@')
  const local = name.replace(/[^a-z0-9_.-]/g, '_').slice(0, LONGEST_NAME)
  return local.replace(/^[.-]+|[.-]+$/g, '') || 'user'
}

/** True if somebody with these groups may log in. */
export const isAllowed = ({ allowed_groups: allowed }: ProviderRules, { groups }: Pick<Claims, 'groups'>): boolean =>
  allowed.length === 0 || hasOneOf(groups ?? [], allowed)

const mapsRoles = (rules: ProviderRules): boolean => rules.administrator_groups.length > 0 || rules.moderator_groups.length > 0

/** The role by group; undefined if the administrator maps none, or no groups are said, so that the present role stays. */
export function roleOf(rules: ProviderRules, { groups }: Pick<Claims, 'groups'>): UserRole | undefined {
  if (!mapsRoles(rules) || groups === null) return undefined
  if (hasOneOf(groups, rules.administrator_groups)) return userRoles.administrator
  return hasOneOf(groups, rules.moderator_groups) ? userRoles.moderator : userRoles.user
}

/**
 * True if a session cannot go on because the provider does not say the groups that decide: at once if only some may log in, and for
 * roles after `limitMs`. A login says them again. `silentMs`: since they were last said.
 */
export const mustLogInAgain = (
  rules: ProviderRules,
  { groups }: Pick<Claims, 'groups'>,
  { silentMs, limitMs }: { silentMs: number; limitMs: number },
): boolean => groups === null && (rules.allowed_groups.length > 0 || (mapsRoles(rules) && silentMs > limitMs))

/** Distinguished names have no case (RFC 4517, 4.2.15), and groups that differ in nothing else are a mistake. */
function hasOneOf(groups: readonly string[], wanted: readonly string[]): boolean {
  const names = new Set(wanted.map((name) => name.toLowerCase()))
  return groups.some((name) => names.has(name.toLowerCase()))
}

function textOf(value: unknown): string | undefined {
  const [first] = [value].flat()
  if (typeof first === 'number') return String(first)
  // The others cannot be stored, or would be stored as the same text.
  return typeof first === 'string' && first !== '' && !first.includes('\0') && first.isWellFormed() ? first : undefined
}
