// The type of columns with a list of texts.

import { ArrayType } from '@mikro-orm/postgresql'

/**
 * `text[]` with every element quoted (PostgreSQL, "Array Value Input"): a bare `null` would be read as NULL, and a bare text would lose
 * surrounding spaces.
 */
export class TextArray extends ArrayType<string> {
  override convertToDatabaseValue(value: string[] | null): string | null {
    return value && `{${value.map((text) => `"${text.replace(/[\\"]/g, '\\$&')}"`).join(',')}}`
  }
}
