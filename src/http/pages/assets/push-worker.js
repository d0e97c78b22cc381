// Shows pushed notifications, also while no page is open, and opens the page of one that is clicked.

addEventListener('push', (event) => {
  const { id, title, text, path } = event.data.json()
  // One that comes twice is shown once.
  event.waitUntil(
    registration.showNotification(title, { body: text, tag: `${id}`, icon: '/client/assets/images/icons/icon-192x192.png', data: path }),
  )
})

addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(clients.openWindow(event.notification.data))
})

// The browser replaces its subscription. The page of settings has the key and what a form needs, for the user who switched it on only.
addEventListener('pushsubscriptionchange', (event) => event.waitUntil(renew(event.newSubscription)))

async function renew(made) {
  const page = await (await fetch('/my-account/settings')).text()
  const [, key, user, token] = /data-push="([^"]+)" data-user="(\d+)">\s*<input type="hidden" name="token" value="([^"]+)"/.exec(page) ?? []
  if (!user || `?${user}` !== location.search) return
  const subscription = made ?? (await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key }))
  const { endpoint, keys } = subscription.toJSON()
  await fetch('/my-account/settings', { method: 'POST', body: new URLSearchParams({ part: 'push', token, endpoint, ...keys }) })
}
