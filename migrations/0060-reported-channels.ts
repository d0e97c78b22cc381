// Reports keep the names of the channel of a video that is gone.

import { Migration } from '@mikro-orm/migrations'

export class ReportedChannels extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  `alter table abuse add column channel_id integer, add column channel_name text, add column channel_display_name text,
     add column channel_url text`,
  `update abuse r set channel_id = c.id, channel_name = x.preferred_username, channel_display_name = c.name, channel_url = x.url
   from video v join channel c on c.id = v.channel_id join actor x on x.id = c.actor_id
   where v.id = r.video_id and r.kind = 'video'`,
  'create index abuse_channel_name on abuse using gin (channel_display_name gin_trgm_ops)',
]
