// Plugins: routes without an installed plugin. Routes of plugins are tested in plugins/.

import { administrators, everybody, row, visitors } from '../row.ts'

const npmName = 'peertube-plugin-none'
const named = () => ({ params: { npmName } })

const file = (path: string) => row(`GET /${path}/*`, everybody(404), () => ({ params: { name: 'none', version: '1.0.0', '*': 'a.css' } }))

export const serverPluginRows = [
  row('GET /api/v1/plugins', administrators(200)),
  row('GET /api/v1/plugins/available', administrators(200)),
  row('GET /api/v1/plugins/:npmName', administrators(404), named),
  row('GET /api/v1/plugins/:npmName/registered-settings', administrators(404), named),
  row('GET /api/v1/plugins/:npmName/public-settings', everybody(404), named),
  row('PUT /api/v1/plugins/:npmName/settings', administrators(404), () => ({ ...named(), body: { settings: {} } })),
  row('POST /api/v1/plugins/install', administrators(400), () => ({ body: { npmName } })),
  row('POST /api/v1/plugins/update', administrators(404), () => ({ body: { npmName } })),
  row('POST /api/v1/plugins/uninstall', administrators(404), () => ({ body: { npmName } })),
  row('POST /api/v1/vireo/plugins/:npmName/enable', administrators(404), named),
  row('POST /api/v1/vireo/plugins/:npmName/disable', administrators(404), named),
  ...['plugins/:name/router', 'plugins/:name/:version/router'].map((path) =>
    row(`ANY /${path}/*`, visitors(404), () => ({ params: { name: 'none', version: '1.0.0', '*': 'x' } })),
  ),
  ...['plugins/:name/ws', 'plugins/:name/:version/ws'].map((path) =>
    row(`GET /${path}/*`, visitors(404), () => ({ params: { name: 'none', version: '1.0.0', '*': 'chat' } })),
  ),
  row('GET /plugins/:name/:version/auth/:authName', everybody(404), () => ({ params: { name: 'none', version: '1.0.0', authName: 'x' } })),
  ...['plugins/:name/:version/static', 'plugins/:name/:version/client-scripts'].map(file),
  ...['themes/:name/:version/static', 'themes/:name/:version/client-scripts', 'themes/:name/:version/css'].map(file),
  row('GET /plugins/global.css', everybody(200)),
  row('GET /plugins/translations/:file', everybody(200), () => ({ params: { file: 'fr-FR.json' } })),
]
