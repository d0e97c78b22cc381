// Runners send one result of a job at a time, to any process.

import { Migration } from '@mikro-orm/migrations'

export class ResultsOfRunners extends Migration {
  override up(): void {
    this.addSql('alter table job add column receives uuid')
  }
}
