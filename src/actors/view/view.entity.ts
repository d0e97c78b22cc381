// Views and viewers.

import { defineEntity, p } from '@mikro-orm/postgresql'
import type { Section } from './watching.ts'

export const RemoteViewQuota = defineEntity({
  name: 'RemoteViewQuota',
  tableName: 'remote_view_quota',
  properties: {
    videoId: p.integer().primary(),
    hostId: p.integer().primary(),
    since: p.datetime(3),
    views: p.integer(),
    watches: p.integer(),
  },
})

export const RemoteViewer = defineEntity({
  name: 'RemoteViewer',
  tableName: 'remote_viewer',
  properties: {
    videoId: p.integer().primary(),
    hostId: p.integer().primary(),
    viewer: p.uuid().primary(),
    viewers: p.integer(),
    expiresAt: p.datetime(3),
  },
})

export const ViewSign = defineEntity({
  name: 'ViewSign',
  tableName: 'view_sign',
  properties: {
    id: p.bigint('number').primary(),
    videoId: p.integer(),
    viewer: p.uuid(),
    seconds: p.integer(),
    isSeek: p.boolean(),
    seenAt: p.datetime(3),
  },
})

export const Viewer = defineEntity({
  name: 'Viewer',
  tableName: 'viewer',
  properties: {
    id: p.bigint('number').primary(),
    videoId: p.integer(),
    viewer: p.uuid(),
    sections: p.json<Section[]>(),
    startedAt: p.datetime(3).nullable(),
    seenAt: p.datetime(3),
    countedAt: p.datetime(3).nullable(),
  },
})

export const ViewerSalt = defineEntity({
  name: 'ViewerSalt',
  tableName: 'viewer_salt',
  properties: {
    day: p.date().primary(),
    salt: p.blob(),
  },
})

export const Viewing = defineEntity({
  name: 'Viewing',
  tableName: 'viewing',
  properties: {
    videoId: p.integer().primary(),
    viewers: p.integer(),
    toldViewers: p.integer(),
    untoldViews: p.integer(),
    toldAt: p.datetime(3).nullable(),
    viewersToldAt: p.datetime(3).nullable(),
  },
})

export const Watch = defineEntity({
  name: 'Watch',
  tableName: 'watch',
  properties: {
    id: p.bigint('number').primary(),
    uuid: p.uuid(),
    videoId: p.integer(),
    ofRemote: p.boolean(),
    hostId: p.integer().nullable(),
    url: p.text(),
    urlHash: p.uuid().nullable(),
    startedAt: p.datetime(3),
    endedAt: p.datetime(3),
    seconds: p.integer(),
    sections: p.json<Section[]>(),
    country: p.text().nullable(),
    subdivision: p.text().nullable(),
    createdAt: p.datetime(3),
  },
})
