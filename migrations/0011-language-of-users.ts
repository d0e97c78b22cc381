// The language that users selected for the pages.

import { Migration } from '@mikro-orm/migrations'

export class LanguageOfUsers extends Migration {
  override up(): void {
    // BCP 47; null for the browser's language.
    this.addSql('alter table users add column language text')
  }
}
