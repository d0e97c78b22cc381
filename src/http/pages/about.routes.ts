// What the server says of itself.

import { aboutBody } from './bodies/about.ts'
import { type PageTools, pageOptions } from './send.ts'

export function addAboutPage({ app, config, send }: PageTools): void {
  app.get('/about', pageOptions, async (request, reply) => {
    const { name, description, terms } = config().instance
    return send(request, reply, { title: 'About', body: aboutBody({ name, description, terms }) })
  })
}
