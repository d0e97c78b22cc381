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
