// Before anything is painted: say that scripts run, so that what needs them may show itself.
document.documentElement.dataset.js = "";
