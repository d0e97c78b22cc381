// The first schema.

import { Migration } from '@mikro-orm/migrations'
import { actors } from './schema/actors.ts'
import { federation } from './schema/federation.ts'
import { interactions } from './schema/interactions.ts'
import { moderation } from './schema/moderation.ts'
import { people } from './schema/people.ts'
import { runtime } from './schema/runtime.ts'
import { videos } from './schema/videos.ts'
import { views } from './schema/views.ts'

export class Initial extends Migration {
  override up(): void {
    const parts = [runtime, actors, people, videos, views, interactions, moderation, federation]
    for (const statement of parts.flat()) this.addSql(statement)
  }
}
