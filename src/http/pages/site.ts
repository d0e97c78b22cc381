// What every page says of the server itself.

import type { Config } from '../../config/index.ts'

export interface Site {
  name: string
  description: string
  /** Account at Twitter, such as `@name`; empty for none. */
  twitter: string
}

export const siteOf = ({ instance, services }: Config): Site => ({
  name: instance.name,
  description: instance.short_description,
  twitter: services.twitter.username,
})
