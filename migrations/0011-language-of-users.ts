// The language that users chose for the pages.

import { Migration } from '@mikro-orm/migrations'

export class LanguageOfUsers extends Migration {
  override up(): void {
    // BCP 47; null for what the browser asks for.
    this.addSql('alter table users add column language text')
  }
}
