// A resumable upload in progress; its lifecycle is the machine `resumable-upload`.

import { defineEntity, p } from '@mikro-orm/postgresql'
import type { FileRef } from '../../media/index.ts'
import type { NewVideoFields } from '../video/index.ts'

const UploadSchema = defineEntity({
  name: 'Upload',
  tableName: 'upload',
  properties: {
    id: p.integer().primary(),
    /** The `upload_id` of the Location header. */
    token: p.text(),
    userId: p.integer(),
    state: p.text(),
    context: p.json<Record<string, unknown>>(),
    dueAt: p.datetime(3).nullable(),
    /** The name of the file on the uploader's machine. */
    fileName: p.text(),
    /** Declared size, bytes. */
    size: p.bigint('number'),
    /** Bytes stored so far. */
    received: p.bigint('number'),
    /** The validated fields of the future video; null for a replacement and for an archive. */
    fields: p.json<NewVideoFields>().nullable(),
    /** The video whose file it replaces; null if that is removed. */
    replacesId: p.integer().nullable(),
    /** The user import, if the file is an archive. */
    userImportId: p.integer().nullable(),
    /** Hash of the file's name and size with its id at the client, or else the fields: the same upload while it is open. */
    fingerprint: p.text(),
    /** Destination of the complete file. */
    place: p.json<FileRef>().nullable(),
    /** The request that holds the lease, and until when. */
    leaseOwner: p.text().nullable(),
    leaseUntil: p.datetime(3).nullable(),
    videoId: p.integer().nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})

export class Upload extends UploadSchema.class {}
UploadSchema.setClass(Upload)
