// A user: who logs in. The account is what others see.

import { defineEntity, p } from '@mikro-orm/postgresql'
import { TextArray } from '../../platform/database/index.ts'

const UserSchema = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: p.integer().primary(),
    username: p.string(),
    passwordHash: p.string(),
    email: p.string(),
    emailVerified: p.boolean().nullable(),
    role: p.smallint().$type<UserRole>(),
    adminFlags: p.integer().default(0),
    /** Bytes; -1 for no limit. */
    videoQuota: p.bigint('number'),
    videoQuotaDaily: p.bigint('number'),
    /** The address that is to take the place of `email` once it is verified. */
    pendingEmail: p.string().nullable(),
    emailPublic: p.boolean().default(false),
    theme: p.string().default('instance-default'),
    nsfwPolicy: p.string(),
    /** Of the machine `user`; the column `blocked` follows it. */
    state: p.string().default('active'),
    p2pEnabled: p.boolean().default(true).fieldNames('p2p_enabled'),
    videosHistoryEnabled: p.boolean().default(true),
    autoPlayVideo: p.boolean().default(true),
    autoPlayNextVideo: p.boolean().default(false),
    autoPlayNextVideoPlaylist: p.boolean().default(true),
    /** Null for all languages. */
    videoLanguages: p.type(TextArray).nullable(),
    noInstanceConfigWarningModal: p.boolean().default(false),
    noWelcomeModal: p.boolean().default(false),
    noAccountSetupWarningModal: p.boolean().default(false),
    blockedReason: p.string().nullable(),
    pluginAuth: p.string().nullable(),
    lastLoginAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
})

export class User extends UserSchema.class {}
UserSchema.setClass(User)

/** `UserRole` of the contract. */
export const userRoles = { administrator: 0, moderator: 1, user: 2 } as const
export type UserRole = (typeof userRoles)[keyof typeof userRoles]

/** `UserAdminFlag` of the contract, as bits. */
export const userAdminFlags = { none: 0, bypassVideoAutoBlacklist: 1 } as const
