// The baseline: Fastify with bare routes that answer prepared bytes. Started by bench/http.ts, which sends the responses.

import Fastify from 'fastify'

export interface PreparedAnswer {
  path: string
  contentType: string
  /** Base64. */
  body: string
  /** GET by default; the body of a POST is read completely and answered with 204. */
  method?: 'POST'
}

process.once('message', async (answers: PreparedAnswer[]) => {
  const app = Fastify()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, posted, done) => done(null, posted))
  for (const { path, contentType, body, method } of answers) {
    if (method === 'POST') {
      app.post(path, (_request, reply) => reply.code(204).send())
      continue
    }
    const bytes = Buffer.from(body, 'base64')
    app.get(path, (_request, reply) => reply.type(contentType).send(bytes))
  }
  process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }))
})
process.once('disconnect', () => process.exit(0))
