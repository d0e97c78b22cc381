// Names for the parts of the application.

/**
 * What Fastify calls a part. It looks for the name of one that says none through all modules that are loaded, which takes
 * long where these are many or stand behind a proxy, as in the tests.
 */
export const named = <P extends object>(name: string, part: P): P => Object.assign(part, { [Symbol.for('fastify.display-name')]: name })
