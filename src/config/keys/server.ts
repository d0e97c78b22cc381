// Keys of the process and its services: addresses, secrets, rate limits, logins, database, Redis, mail, logs.

import { choice, duration, EDITABLE, flag, integer, optionalText, port, records, SECRET, section, size, text, texts } from '../kinds.ts'
import { sentinelAddress } from './items.ts'

const rateLimit = (max: number, window: string, of: string) =>
  section({
    max: integer(max, `requests in one window: ${of}`, { min: 1 }),
    window: duration(window, 'length of the window'),
  })

export const serverKeys = {
  listen: section({
    hostname: text('127.0.0.1', 'address to listen on; 0.0.0.0 or :: for all'),
    port: port(9000, 'port to listen on'),
  }),
  webserver: section({
    hostname: text('localhost', 'public host name; follows `listen.hostname` when not set'),
    port: port(9000, 'public port; when not set it follows `listen.port`, or is 443 with `https`'),
    https: flag(false, 'whether the public address is https'),
  }),
  trust_proxy: texts(['loopback'], 'proxies whose forwarded headers are believed: addresses, subnets, loopback'),
  secrets: section({
    peertube: text('', 'secret that encrypts keys and signs tokens; empty: one is generated in secret.key of the data folder', SECRET),
  }),
  rates_limit: section({
    api: rateLimit(50, '10 seconds', 'the REST API'),
    login: rateLimit(15, '5 minutes', 'token requests, and wrong codes and passwords'),
    signup: rateLimit(2, '5 minutes', 'successful registrations'),
    ask_send_email: rateLimit(3, '5 minutes', 'requests for verification mails'),
    receive_client_log: rateLimit(30, '1 minute', 'log lines of web clients'),
    plugins: rateLimit(500, '10 seconds', 'files of plugins and themes'),
    well_known: rateLimit(200, '10 seconds', '/.well-known'),
    feeds: rateLimit(50, '10 seconds', 'feeds'),
    activity_pub: rateLimit(500, '10 seconds', 'ActivityPub'),
    client: rateLimit(500, '10 seconds', 'HTML pages'),
    download_generate_video: rateLimit(5, '5 seconds', 'downloads that are muxed on the way'),
  }),
  oauth2: section({
    token_lifetime: section({
      access_token: duration('1 day', 'life of an access token'),
      refresh_token: duration('2 weeks', 'life of a refresh token'),
    }),
  }),
  database: section({
    hostname: text('127.0.0.1', 'PostgreSQL host'),
    port: port(5432, 'PostgreSQL port'),
    socket: optionalText(null, 'folder of the UNIX socket, in place of host and port'),
    ssl: flag(false, 'whether to encrypt (the certificate is not checked; for that: sslmode=verify-full in DATABASE_URL)'),
    name: optionalText(null, "name of the database; not set: 'peertube' and the suffix"),
    suffix: text('_dev', "ends the database's name when `database.name` is not set"),
    username: text('peertube', 'PostgreSQL user'),
    password: text('peertube', 'PostgreSQL password', SECRET),
    pool: section({ max: integer(5, 'connections of one process at most', { min: 2 }) }),
  }),
  redis: section({
    hostname: text('127.0.0.1', 'Redis host'),
    port: port(6379, 'Redis port'),
    socket: optionalText(null, 'path of the UNIX socket, in place of host and port'),
    auth: optionalText(null, 'Redis password', SECRET),
    db: integer(0, 'number of the Redis database'),
    sentinel: section({
      enabled: flag(false, 'whether Redis is found through sentinels'),
      enable_tls: flag(false, 'whether sentinels and Redis are reached by TLS'),
      master_name: text('', 'name of the master that the sentinels know'),
      sentinels: records(sentinelAddress, 'a list of { hostname, port }', [{ hostname: '', port: 26379 }], 'the sentinels'),
    }),
  }),
  admin: section({
    email: text('admin@example.com', 'mail address of root and of the contact form', EDITABLE),
  }),
  contact_form: section({ enabled: flag(true, 'whether visitors can write to the administrators', EDITABLE) }),
  smtp: section({
    transport: choice('smtp', ['smtp', 'sendmail'], 'how mail is sent'),
    sendmail: optionalText(null, 'path of the sendmail command'),
    hostname: optionalText(null, 'mail server; null: no mail is sent', EDITABLE),
    port: port(465, 'port of the mail server; 587 for STARTTLS', EDITABLE),
    username: optionalText(null, 'user at the mail server', EDITABLE),
    password: optionalText(null, 'password at the mail server', { ...SECRET, ...EDITABLE }),
    tls: flag(true, 'TLS from the first byte; false for STARTTLS', EDITABLE),
    disable_starttls: flag(false, 'never upgrade to TLS'),
    ca_file: optionalText(null, 'certificate authority of a self-signed mail server'),
    from_address: text(
      'admin@example.com',
      'sender of mails; owner of podcasts, unless the texts of the instance name `admin.email`',
      EDITABLE,
    ),
  }),
  email: section({
    body: section({ signature: text('Vireo', 'last line of mails') }),
    subject: section({ prefix: text('[Vireo]', 'first word of subjects') }),
  }),
  log: section({
    level: choice('info', ['debug', 'info', 'warn', 'error', 'silent'], 'least severe level that is logged', {
      aliases: { warning: 'warn' },
    }),
    rotation: section({
      enabled: flag(true, 'whether log files are rotated; false: each process writes one file, and none is removed'),
      max_file_size: size('12MB', 'size that starts a new log file'),
      max_files: integer(20, 'log files retained per kind of process (by its roles), including those of ended processes', { min: 1 }),
    }),
    anonymize_ip: flag(false, 'whether addresses of visitors are shortened in logs: /24 of IPv4, /48 of IPv6'),
    log_http_requests: flag(true, 'whether each request is logged'),
    log_ping_requests: flag(true, 'whether requests to /api/v1/ping are logged'),
    log_tracker_unknown_infohash: flag(true, 'whether announces of unknown torrents are logged'),
    prettify_sql: flag(false, 'whether SQL in debug logs keeps its line breaks; it is logged without its values'),
    accept_client_log: flag(true, 'whether web clients may send their errors; else they are refused with 403'),
  }),
  open_telemetry: section({
    metrics: section({
      enabled: flag(false, 'whether metrics are recorded and exported to Prometheus'),
      http_request_duration: section({ enabled: flag(false, 'whether each request is timed by route') }),
      playback_stats_interval: duration('15 seconds', 'how often players report'),
      prometheus_exporter: section({
        hostname: text('127.0.0.1', 'address of the Prometheus exporter'),
        port: port(9091, 'port of the Prometheus exporter, in each process another one; 0: a free one'),
      }),
    }),
    tracing: section({
      enabled: flag(false, 'whether traces are exported'),
      jaeger_exporter: section({ endpoint: text('', 'where traces are sent') }),
    }),
  }),
  csp: section({
    enabled: flag(false, 'whether pages carry a Content-Security-Policy'),
    report_only: flag(true, 'whether the policy only reports'),
    report_uri: optionalText(null, 'where browsers report to'),
  }),
  security: section({
    frameguard: section({ enabled: flag(true, 'whether other sites are refused to frame the pages (embeds may)') }),
    powered_by_header: section({ enabled: flag(true, 'whether answers carry x-powered-by') }),
  }),
  webadmin: section({
    configuration: section({
      edition: section({ allowed: flag(true, 'whether administrators may change the configuration over the API') }),
    }),
  }),
  peertube: section({
    check_latest_version: section({
      enabled: flag(true, 'whether administrators are notified of new versions'),
      url: text('', 'where the newest version is read; empty: nowhere'),
    }),
  }),
}
