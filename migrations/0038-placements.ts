// Who moves the files of a video between the public and the private folder, and until when it is believed to live.

import { Migration } from '@mikro-orm/migrations'

export class Placements extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  `create table video_placement (
    video_id integer primary key references video on delete cascade,
    owner text not null,
    lease_until timestamptz(3) not null
  )`,
]
