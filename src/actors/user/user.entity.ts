// A user, who logs in. The account is what others see.

import { defineEntity, type Opt, p } from '@mikro-orm/postgresql'
import { TextArray } from '../../platform/database/index.ts'

const UserSchema = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: p.integer().primary(),
    username: p.text(),
    passwordHash: p.text(),
    email: p.text(),
    emailVerified: p.boolean().nullable(),
    role: p.smallint().$type<UserRole>(),
    adminFlags: p.integer().default(0),
    /** Bytes; -1 for no limit. */
    videoQuota: p.bigint('number'),
    videoQuotaDaily: p.bigint('number'),
    /** The new address, which replaces `email` once it is verified. */
    pendingEmail: p.text().nullable(),
    emailPublic: p.boolean().default(false),
    theme: p.text().default('instance-default'),
    nsfwPolicy: p.text(),
    /** Of the machine `user`; the column `blocked` follows it. */
    state: p.text().default('active'),
    p2pEnabled: p.boolean().default(true).fieldNames('p2p_enabled'),
    videosHistoryEnabled: p.boolean().default(true),
    autoPlayVideo: p.boolean().default(true),
    autoPlayNextVideo: p.boolean().default(false),
    autoPlayNextVideoPlaylist: p.boolean().default(true),
    /** Null for all languages. */
    videoLanguages: p.type(TextArray).nullable(),
    /** Of the pages, BCP 47; null for what the browser asks for. */
    language: p.text().nullable(),
    noInstanceConfigWarningModal: p.boolean().default(false),
    noWelcomeModal: p.boolean().default(false),
    noAccountSetupWarningModal: p.boolean().default(false),
    blockedReason: p.text().nullable(),
    pluginAuth: p.text().nullable(),
    lastLoginAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    // Accessed in SQL only:
    blocked: p.boolean().$type<Opt<boolean>>().generated("(state <> 'active') stored").lazy(),
  },
})

export class User extends UserSchema.class {}
UserSchema.setClass(User)

/** `UserRole` of the contract. */
export const userRoles = { administrator: 0, moderator: 1, user: 2 } as const
export type UserRole = (typeof userRoles)[keyof typeof userRoles]

/** `UserAdminFlag` of the contract, as bits. */
export const userAdminFlags = { none: 0, bypassVideoAutoBlacklist: 1 } as const
