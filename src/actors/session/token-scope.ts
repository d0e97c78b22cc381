// The form of application tokens, and what they may do.

import { randomToken } from '../../platform/ids.ts'

/**
 * `upload` adds videos and edits the own ones, `manage` changes everything of the own account and includes `upload`, `admin` is the
 * administration as far as the user's role allows it.
 */
export const tokenScopes = ['read', 'upload', 'manage', 'admin'] as const
export type TokenScope = (typeof tokenScopes)[number]

/** Tells these tokens from those of sessions, and lets secret scanners find them. */
const PREFIX = 'vireo_'
const TOKEN_BYTES = 20

export const newApplicationToken = (): string => `${PREFIX}${randomToken(TOKEN_BYTES)}`

export const isApplicationToken = (token: string): boolean => token.startsWith(PREFIX)
