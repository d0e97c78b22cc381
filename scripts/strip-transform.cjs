// Jest's transform: the same type stripping as `node file.ts`, so that tests run what production runs.
const { createHash } = require('node:crypto')
const { stripTypeScriptTypes } = require('node:module')

module.exports = {
  process: (source) => ({ code: stripTypeScriptTypes(source) }),
  getCacheKey: (source, file) => createHash('sha1').update(`${process.version}\0${file}\0${source}`).digest('hex'),
}
