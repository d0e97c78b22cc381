// Lists of words that give comments and videos a tag.

import { defineEntity, p } from '@mikro-orm/postgresql'
import { TextArray } from '../../platform/database/index.ts'

export const WatchedWordsList = defineEntity({
  name: 'WatchedWordsList',
  tableName: 'watched_words_list',
  properties: {
    id: p.integer().primary(),
    accountId: p.integer().nullable(),
    name: p.text(),
    words: p.type(TextArray),
    version: p.integer(),
    size: p.integer(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})
