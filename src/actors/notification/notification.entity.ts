// Notifications of users, and the browsers that they are pushed to.

import { defineEntity, p } from '@mikro-orm/postgresql'

export const Notification = defineEntity({
  name: 'Notification',
  tableName: 'notification',
  properties: {
    id: p.bigint('number').primary(),
    userId: p.integer(),
    /** Number of the contract. */
    type: p.smallint(),
    key: p.text(),
    byActorId: p.integer().nullable(),
    onWeb: p.boolean(),
    read: p.boolean(),
    videoId: p.integer().nullable(),
    commentId: p.integer().nullable(),
    abuseId: p.integer().nullable(),
    abuseMessageId: p.integer().nullable(),
    videoBlockId: p.integer().nullable(),
    videoImportId: p.integer().nullable(),
    followId: p.integer().nullable(),
    accountId: p.integer().nullable(),
    registrationId: p.integer().nullable(),
    applicationVersion: p.text().nullable(),
    pluginId: p.integer().nullable(),
    videoCaptionId: p.integer().nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    mailWaits: p.boolean(),
    mailJob: p.bigint('number').nullable(),
    mailedAt: p.datetime(3).nullable(),
  },
})

export const NotificationMailWindow = defineEntity({
  name: 'NotificationMailWindow',
  tableName: 'notification_mail_window',
  properties: {
    userId: p.integer().primary(),
    type: p.smallint().primary(),
    closesAt: p.datetime(3),
  },
})

export const PushSubscription = defineEntity({
  name: 'PushSubscription',
  tableName: 'push_subscription',
  properties: {
    id: p.integer().primary(),
    userId: p.integer(),
    endpointHash: p.blob(),
    sealed: p.text(),
    language: p.text().nullable(),
    createdAt: p.datetime(3),
    /** The last push that its service took; null if there was none. */
    lastSentAt: p.datetime(3).nullable(),
  },
})
