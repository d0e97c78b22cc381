// Notifications of automatic captions.

import { Migration } from '@mikro-orm/migrations'

export class NoticesOfCaptions extends Migration {
  override up(): void {
    this.addSql('alter table notification add column video_caption_id integer references video_caption on delete cascade')
    this.addSql('create index notification_of_caption on notification (video_caption_id) where video_caption_id is not null')
  }
}
