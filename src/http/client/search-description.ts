// The OpenSearch 1.1 description, with which browsers offer the search page. Pure.

import { html } from '../../platform/html.ts'
import { legal } from '../feeds/xml.ts'

/** Characters that the specification allows for a short name. */
const LONGEST_NAME = 16

export function searchDescription({ name, origin, icon }: { name: string; origin: string; icon: string }): string {
  const clean = legal(name)
  return `<?xml version="1.0" encoding="UTF-8"?>
${html`<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
  <ShortName>${[...clean].slice(0, LONGEST_NAME).join('')}</ShortName>
  <Description>Search videos on ${clean}</Description>
  <InputEncoding>UTF-8</InputEncoding>
  <Image width="48" height="48" type="image/png">${origin}${icon}</Image>
  <Url type="text/html" method="get" template="${origin}/search?search={searchTerms}"/>
</OpenSearchDescription>
`}`
}
