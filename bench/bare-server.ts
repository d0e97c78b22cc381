// The yardstick: Fastify with bare routes that answer prepared bytes. Run by bench/http.ts, which sends the answers.

import Fastify from 'fastify'

export interface PreparedAnswer {
  path: string
  contentType: string
  /** Base64. */
  body: string
  /** GET when left out; what is posted is read whole and answered with 204. */
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
