// Checks deploy/ with the programs that will read it: container image, nginx, systemd, shell scripts. `npm run lint:deploy`. A missing
// program is reported, and counts as a failure with CI=true. Its last line is "N passed, N failed".

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { validate } from 'dockerfile-utils'

/** The complaints, one line each; or the missing program. */
type Finding = { complaints: string[] } | { missing: string }

const root = fileURLToPath(new URL('../', import.meta.url))
const deploy = join(root, 'deploy')
// nginx is installed with programs for administrators, which are not on every PATH.
const searched = [process.env.PATH, '/usr/sbin', '/sbin'].join(':')
const work = mkdtempSync(join(tmpdir(), 'vireo-lint-'))

const checks: { name: string; check: () => Finding }[] = [
  { name: 'Dockerfile', check: checkDockerfile },
  ...['nginx/vireo.conf', 'compose/nginx.conf.template'].map((file) => ({
    name: `nginx -t on ${file}`,
    check: () => checkNginx(file),
  })),
  { name: 'systemd units', check: checkUnits },
  { name: 'shell scripts', check: checkScripts },
]

let passed = 0
let failed = 0
try {
  for (const { name, check } of checks) report(name, check())
} finally {
  rmSync(work, { recursive: true, force: true })
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

function report(name: string, finding: Finding): void {
  if ('missing' in finding) {
    const counts = process.env.CI === 'true'
    if (counts) failed += 1
    console.log(`${counts ? 'FAILED' : '--    '} ${name}: ${finding.missing} is not installed`)
    return
  }
  const isRight = finding.complaints.length === 0
  if (isRight) passed += 1
  else failed += 1
  console.log(`${isRight ? 'ok    ' : 'FAILED'} ${name}`)
  for (const line of finding.complaints) console.log(`       ${line}`)
}

function checkDockerfile(): Finding {
  const complaints = validate(readFileSync(join(deploy, 'Dockerfile'), 'utf8')).map(
    ({ range, message }) => `line ${range.start.line + 1}: ${message}`,
  )
  return { complaints }
}

/** The configuration, except for host names, paths and ports, which differ on this machine. */
function checkNginx(file: string): Finding {
  for (const program of ['nginx', 'openssl']) if (!isInstalled(program)) return { missing: program }
  const folder = join(work, basename(file))
  mkdirSync(join(folder, 'snippets'), { recursive: true })
  const certificate = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1']
  run('openssl', [...certificate, '-subj', '/CN=x', '-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')])
  const fitted = (text: string) =>
    text
      // Debian's nginx is older than the image's: it cannot re-resolve upstreams, and has another directive for HTTP/2.
      .replace(/ resolve;/g, ';')
      .replace(/^ *http2 on;\n/m, '')
      .replace(/^ *listen \[::\].*\n/gm, '')
      .replace(/listen (80|443)\b/g, 'listen 127.0.0.1:48$1')
      .replace(/\bweb-[ab]:9000/g, '127.0.0.1:9000')
      .replace(/\$\{VIREO_HOST\}/g, 'localhost')
      .replace(/[\w/.]+\/fullchain\.pem/g, join(folder, 'cert.pem'))
      .replace(/[\w/.]+\/privkey\.pem/g, join(folder, 'key.pem'))
      .replace(/\/var\/log\/nginx/g, folder)
      .replace(/\/var\/cache\b/g, folder)
  for (const snippet of ['vireo-http.conf', 'vireo-server.conf'])
    writeFileSync(join(folder, 'snippets', snippet), fitted(readFileSync(join(deploy, 'nginx', snippet), 'utf8')))
  writeFileSync(join(folder, 'site.conf'), fitted(readFileSync(join(deploy, file), 'utf8')))
  const main = `pid ${folder}/pid; error_log stderr; events {} http { include ${folder}/site.conf; }`
  writeFileSync(join(folder, 'nginx.conf'), `${main}\n`)
  const { status, output } = run('nginx', ['-t', '-e', 'stderr', '-p', folder, '-c', join(folder, 'nginx.conf')])
  const complaints = output.split('\n').filter((line) => /\[(?:warn|error|emerg|crit|alert)\]/.test(line))
  // Nginx complains about its account unless it runs as root.
  const grave = complaints.filter((line) => !line.includes('"user" directive'))
  return { complaints: status === 0 || grave.length > 0 ? grave : [output] }
}

/** With local programs instead of those that are installed later. */
function checkUnits(): Finding {
  if (!isInstalled('systemd-analyze')) return { missing: 'systemd' }
  const units = readdirSync(join(deploy, 'systemd'))
  for (const unit of units) {
    const text = readFileSync(join(deploy, 'systemd', unit), 'utf8')
    const commands = [...text.matchAll(/^ExecStart=(\S+)/gm)].map(([, path = '']) => path)
    writeFileSync(
      join(work, unit),
      commands.reduce((before, path) => before.replaceAll(path, '/bin/true'), text),
    )
  }
  const asked = units.map((unit) => join(work, unit.replace('@.', '@web.')))
  const { status, output } = run('systemd-analyze', ['verify', '--man=no', ...asked])
  // Complaints about other units of this machine are ignored.
  const complaints = output.split('\n').filter((line) => /\bvireo[\w@-]*\.(?:service|timer|target)\b/.test(line))
  return { complaints: status === 0 || complaints.length > 0 ? complaints : [output] }
}

function checkScripts(): Finding {
  if (!isInstalled('shellcheck')) return { missing: 'shellcheck' }
  const scripts = readdirSync(deploy, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.sh'))
  const paths = [...scripts.map((name) => join('deploy', name)), '.ci/run']
  const { status, output } = run('shellcheck', ['--external-sources', '--source-path=.', '--format=gcc', ...paths])
  return { complaints: status === 0 ? [] : output.trim().split('\n') }
}

function run(program: string, args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: root,
    encoding: 'utf8',
    timeout: 60_000,
    env: { ...process.env, PATH: searched },
  })
  return { status, output: error ? error.message : `${stdout}${stderr}` }
}

function isInstalled(program: string): boolean {
  return searched.split(':').some((folder) => existsSync(join(folder, program)))
}
